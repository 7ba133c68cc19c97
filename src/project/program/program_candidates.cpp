#include "project/program/program_candidates.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/code/python_file.hpp"
#include "project/package/console_scripts.hpp"
#include "project/package/package.hpp"
#include "project/program/modules.hpp"
#include "project/program/remembered_python.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

namespace autopack::project {

namespace {

constexpr std::size_t most_candidates_read{400};
constexpr std::size_t most_directories_read{2000};
constexpr std::size_t deepest{6};
constexpr std::size_t most_notebooks{20};

std::size_t depth_of(std::string_view path) {
  return static_cast<std::size_t>(std::ranges::count(path, '/'));
}

bool is_among_examples(std::string_view path) {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    if (holds_examples(path.substr(0, slash))) {
      return true;
    }
    path.remove_prefix(slash + 1);
  }
  return false;
}

source::Selection selection_of(const source::Tree& tree, const Request& request) {
  return {tree, {.include = request.include, .exclude = request.exclude}, request.git};
}

void sort_candidates(std::vector<Candidate>& programs) {
  const auto key = [](const Candidate& one) {
    const bool is_told = one.purpose == Purpose::training || one.purpose == Purpose::entry;
    return std::tuple{-static_cast<int>(one.rank), is_told ? 0 : 1, one.depth(), one.file,
                      one.command};
  };
  std::ranges::sort(programs,
                    [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
}

bool has_usual_name(const std::string& file) {
  const auto name = base_name(file);
  return name == "train.py" || name == "main.py" || name == "task.py" || name == "run.py";
}

/// A console script replaces the file that it runs.
void drop_files_of_scripts(std::vector<Candidate>& programs) {
  std::erase_if(programs, [&](const Candidate& one) {
    return one.command.empty() && std::ranges::any_of(programs, [&](const Candidate& other) {
             return !other.command.empty() && other.file == one.file;
           });
  });
}

}  // namespace

std::size_t Candidate::depth() const {
  return command.empty() ? depth_of(file) : 0;
}

CandidateSearch::CandidateSearch(const source::Tree& tree, const Request& request)
    : findings_{tree, selection_of(tree, request)}, remembered_{request.python.get()} {
  Findings of_package{tree, findings_.ignore()};
  if (const auto package = read_package(of_package, {})) {
    installs_ = package->installs;
    if (!package->import_root.empty()) {
      roots_.push_back(package->import_root);
    }
  }
}

Candidates CandidateSearch::at_root() {
  if (!std::exchange(root_is_read_, true)) {
    add_directory("", below_root_);
    add_console_scripts();
  }
  Candidates result = found_;
  sort_candidates(result.programs);
  return result;
}

Candidates CandidateSearch::everywhere() {
  at_root();
  std::vector<std::string> level = std::exchange(below_root_, {});
  std::size_t directories = 0;
  for (std::size_t depth = 1; depth <= deepest && !level.empty(); ++depth) {
    std::vector<std::string> next;
    for (const auto& directory : level) {
      if (++directories <= most_directories_read) {
        add_directory(directory, next);
      }
    }
    level = std::move(next);
  }
  drop_files_of_scripts(found_.programs);
  sort_candidates(found_.programs);
  return found_;
}

ProgramReach CandidateSearch::reach(const std::string& file) const {
  return reach_of(findings_, file, roots_, *this);
}

bool CandidateSearch::is_installed(const std::string& root) const {
  return installs_ && root == roots_.back();
}

bool CandidateSearch::is_environment(const std::vector<source::Entry>& entries) {
  return std::ranges::any_of(entries, [](const source::Entry& entry) {
    const auto name = base_name(entry.path);
    return name == "pyvenv.cfg" || name == "conda-meta";
  });
}

void CandidateSearch::add_directory(const std::string& directory, std::vector<std::string>& below) {
  const auto entries = findings_.tree().list(directory);
  if (!directory.empty() && is_environment(entries)) {
    return;
  }
  for (const auto& entry : entries) {
    if (entry.type == source::EntryType::directory) {
      if (!is_aside(base_name(entry.path)) && !findings_.is_ignored(entry.path)) {
        below.push_back(entry.path);
      }
    } else if (entry.type == source::EntryType::file) {
      add_file(entry);
    }
  }
}

void CandidateSearch::add_file(const source::Entry& entry) {
  const bool is_notebook = entry.path.ends_with(".ipynb");
  const bool is_shell = entry.path.ends_with(".sh") && depth_of(entry.path) == 0;
  if (!is_notebook && !is_shell && !entry.path.ends_with(".py")) {
    return;
  }
  const auto purpose = purpose_of_program(entry.path);
  if (is_notebook && found_.notebooks.size() < most_notebooks) {
    found_.notebooks.push_back(entry.path);
  } else if (is_shell && (purpose == Purpose::training || purpose == Purpose::entry)) {
    found_.shells.push_back(entry.path);
  }
  if (is_notebook || is_shell || purpose == Purpose::tool || entry.size > largest_program ||
      findings_.is_ignored(entry.path) || ++files_read_ > most_candidates_read) {
    return;
  }
  Candidate candidate{.file = entry.path, .purpose = purpose, .signs = signs(entry)};
  const auto& read = candidate.signs;
  if (!read.does_something() || (read.tests && !read.trains)) {
    found_.has_definitions = true;
  } else if (purpose == Purpose::other || (read.serves && !read.trains)) {
    found_.aside.push_back(entry.path);
  } else {
    rank(candidate);
    if (candidate.rank != Rank::none) {
      found_.programs.push_back(std::move(candidate));
    } else if (read.is_program()) {
      found_.has_modules = true;
    }
  }
}

void CandidateSearch::add_console_scripts() {
  if (!installs_) {
    return;
  }
  for (const auto& [name, module] : console_scripts(findings_)) {
    Candidate candidate{.command = name, .purpose = purpose_of_console_script(name)};
    for (const auto& root : roots_) {
      const std::string path = join_path(root, replace_all(module, ".", "/"));
      for (const auto& file : {path + "/__init__.py", path + ".py"}) {
        if (candidate.file.empty() && findings_.is_file(file)) {
          candidate.file = file;
        }
      }
    }
    if (candidate.purpose != Purpose::training && candidate.purpose != Purpose::other &&
        !candidate.file.empty() && purpose_of_program(candidate.file) == Purpose::training) {
      candidate.purpose = Purpose::training;
    }
    if (candidate.purpose == Purpose::other) {
      continue;
    }
    const bool trains = candidate.purpose == Purpose::training ||
                        (!candidate.file.empty() && reach(candidate.file).trains);
    candidate.rank = trains ? Rank::training : Rank::root_entry;
    found_.programs.push_back(std::move(candidate));
  }
}

void CandidateSearch::rank(Candidate& candidate) {
  const auto& signs = candidate.signs;
  const bool is_example = is_among_examples(candidate.file);
  switch (candidate.purpose) {
    case Purpose::training: candidate.rank = Rank::training; break;
    case Purpose::entry:
      candidate.rank = signs.trains || reach(candidate.file).trains ? Rank::training
                       : candidate.depth() == 0                     ? Rank::root_entry
                                                                    : Rank::entry;
      break;
    case Purpose::unknown:
      candidate.rank = signs.trains && (signs.is_program() || signs.calls) ? Rank::training
                       : signs.is_program()                                ? Rank::program
                       : signs.calls                                       ? Rank::calls
                                                                           : Rank::plain;
      break;
    case Purpose::helper: candidate.rank = signs.guarded ? Rank::calls : Rank::none; break;
    case Purpose::other:
    case Purpose::tool: break;
  }
  if (is_example && candidate.rank > Rank::example) {
    candidate.rank = Rank::example;
  } else if (candidate.depth() > 0 && is_module(candidate)) {
    candidate.rank = Rank::none;
  }
}

/// Returns true for a file in a directory of imported modules or of settings. A library's module
/// may test itself when it is run.
bool CandidateSearch::is_module(const Candidate& candidate) const {
  const auto& signs = candidate.signs;
  const bool is_settings = !signs.is_program() && !signs.calls;
  switch (candidate.purpose) {
    case Purpose::training: return is_settings && !has_usual_name(candidate.file);
    case Purpose::entry: return false;
    default: break;
  }
  if (candidate.rank < Rank::program && !signs.guarded) {
    return true;
  }
  const auto directory = parent_path(candidate.file);
  const auto package = findings_.follow(join_path(directory, "__init__.py"));
  if (!package.is_file() || package.entry.size > largest_program) {
    return false;
  }
  if (installs_) {
    return true;
  }
  const auto name = base_name(candidate.file).substr(0, base_name(candidate.file).size() - 3);
  const auto imports = file(package.entry).imports;
  return std::ranges::any_of(imports, [&](const Import& import) {
    const auto last = import.module.substr(import.module.rfind('.') + 1);
    return last == name || contains(import.names, name);
  });
}

PythonFile CandidateSearch::file(const source::Entry& entry) const {
  return remembered_ != nullptr ? remembered_->of(findings_.tree(), entry)
                                : read_python_file(findings_.tree().read(entry.path));
}

ProgramSigns CandidateSearch::signs(const source::Entry& entry) const {
  return remembered_ != nullptr ? remembered_->signs_of(findings_.tree(), entry)
                                : read_program_signs(findings_.tree().read(entry.path));
}

}  // namespace autopack::project
