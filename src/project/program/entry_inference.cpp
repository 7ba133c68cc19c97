#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/program/inference.hpp"
#include "project/program/modules.hpp"
#include "project/program/program_candidates.hpp"
#include "project/tables/python_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

// Infers the program that a user would start. A wrong guess costs a job, so a candidate is taken
// only if it is the only one left or is clearly ahead of the others; otherwise the candidates are
// listed with the flag for each.
namespace autopack::project {

namespace {

constexpr std::size_t most_choices_shown{8};
constexpr std::size_t most_aside_shown{3};
constexpr std::size_t most_notebooks_shown{3};

/// For files in one directory, the more likely first.
constexpr auto usual_names =
    std::to_array<std::string_view>({"train.py", "main.py", "task.py", "run.py"});

/// Returns the dotted name with which `python -m` runs `file`, below `root`; nothing if it has
/// none.
std::optional<std::string> module_below(const std::string& root, const std::string& file) {
  if (!is_below(file, root)) {
    return std::nullopt;
  }
  const auto module = module_of_script(root.empty() ? file : file.substr(root.size() + 1));
  const auto parts = split(module, '.');
  return std::ranges::all_of(parts, is_identifier) ? std::optional{module} : std::nullopt;
}

/// Determines how a program starts.
class StartingForm {
public:
  explicit StartingForm(const CandidateSearch& search) : search_{search} {}

  /// Returns the start of `program`, and why it is a module; the reason for the program itself is
  /// left empty.
  Inferred of(const Candidate& program) const {
    if (!program.command.empty()) {
      return {"command", program.command, "", "--command"};
    }
    const auto module = module_of(program.file);
    return module ? *module : Inferred{"script", program.file, "", "--script"};
  }

private:
  /// Returns the module if a script would not find its imports.
  std::optional<Inferred> module_of(const std::string& file) const {
    if (parent_path(file).empty()) {
      return std::nullopt;
    }
    const auto reach = search_.reach(file);
    if (base_name(file) == "__main__.py") {
      return named(main_root(file, reach), file, "");
    }
    const bool is_found_by_script = reach.root && search_.is_installed(*reach.root);
    const bool needs_root = reach.own_package || (reach.root && !is_found_by_script);
    if ((!reach.is_relative && (!needs_root || reach.changes_path)) || reach.needs_own_directory) {
      return std::nullopt;
    }
    if (reach.own_package || reach.is_relative) {
      return named(reach.root.value_or(package_root(file)), file, "it imports its own package");
    }
    return named(*reach.root, file, "it imports modules that are not beside it");
  }

  static std::optional<Inferred> named(const std::string& root,
                                       const std::string& file,
                                       const char* reason) {
    auto module = module_below(root, file);
    return module ? std::optional{Inferred{"module", *std::move(module), reason, "--python-module"}}
                  : std::nullopt;
  }

  /// Returns the root that contains the package of `file`.
  std::string package_root(const std::string& file) const {
    const auto& own = search_.roots().back();
    return is_below(file, own) && search_.is_installed(own) ? own : std::string{};
  }

  std::string main_root(const std::string& file, const ProgramReach& reach) const {
    return reach.root.value_or(package_root(file));
  }

  const CandidateSearch& search_;
};

/// Picks the most likely program, if there is one.
class EntryPick {
public:
  explicit EntryPick(const Candidates& found) : found_{found} {
    for (const auto& one : found.programs) {
      if (one.rank == found.programs.front().rank) {
        best_.push_back(one);
      }
    }
  }

  /// Returns the clear candidate at the root, before anything below is examined.
  const Candidate* at_root() const {
    return best_.empty() || best_.front().rank < Rank::training ? nullptr : undisputed();
  }

  const Candidate* anywhere() const {
    if (best_.empty() || has_rival_at_root()) {
      return nullptr;
    }
    if (nothing_speaks_for_them() && is_one_of_several()) {
      return nullptr;
    }
    if (best_.size() == 1) {
      return &best_.front();
    }
    const auto rank = best_.front().rank;
    return rank < Rank::program || rank == Rank::example ? nullptr : undisputed();
  }

  /// Returns the possible programs, the most likely first.
  std::vector<Candidate> choices() const {
    auto all = best_;
    for (const auto& one : found_.programs) {
      if (one.rank == Rank::root_entry && has_rival_at_root()) {
        all.push_back(one);
      }
    }
    return all;
  }

  static std::string reason(const Candidate& chosen) {
    if (has_usual_name(chosen)) {
      return "by its name";
    }
    switch (chosen.rank) {
      case Rank::training:
        return chosen.purpose == Purpose::training ? "the only program to train with, by its name"
                                                   : "the only program that trains";
      case Rank::example: return "the only example that trains";
      case Rank::root_entry:
        return chosen.command.empty() ? "by its name"
                                      : "the only program that installing the project makes";
      case Rank::entry: return "by its name";
      case Rank::program:
        return chosen.signs.guarded ? "the only file here with a `__main__` guard"
                                    : "the only program here";
      case Rank::calls:
      case Rank::plain:
      case Rank::none: break;
    }
    return "the only Python file here that does something";
  }

private:
  static bool has_usual_name(const Candidate& one) {
    return one.command.empty() && contains(usual_names, base_name(one.file));
  }

  /// Returns true if neither the name nor the content of any program suggests that it is meant.
  bool nothing_speaks_for_them() const { return best_.front().rank <= Rank::program; }

  /// Returns true if others may be meant as well, though their names suggest another purpose, or if
  /// the file is only a module with a `__main__` guard.
  bool is_one_of_several() const {
    const bool has_aside = std::ranges::any_of(found_.aside, [](const std::string& file) {
      const auto name = base_name(file);
      return parent_path(file).empty() && !name.starts_with("test_") && !name.ends_with("_test.py");
    });
    return has_aside || (best_.front().rank < Rank::program && best_.front().depth() > 0);
  }

  /// Returns true for a program at the root with a name like `main.py`, if training programs are
  /// below it.
  bool has_rival_at_root() const {
    return best_.front().rank == Rank::training && best_.front().depth() > 0 &&
           std::ranges::any_of(found_.programs,
                               [](const Candidate& one) { return one.rank == Rank::root_entry; });
  }

  /// Returns the one against which no other speaks.
  const Candidate* undisputed() const {
    const auto found = std::ranges::find_if(best_, [&](const Candidate& one) {
      return std::ranges::none_of(
          best_, [&](const Candidate& other) { return &other != &one && disputes(other, one); });
    });
    return found == best_.end() ? nullptr : &*found;
  }

  static std::size_t usual_place(const Candidate& one) {
    const auto* const at = std::ranges::find(usual_names, base_name(one.file));
    return one.command.empty() ? static_cast<std::size_t>(at - usual_names.begin())
                               : usual_names.size();
  }

  /// Returns whether `other` is a reason against `one`. Files at the root take precedence, then
  /// usual names in one directory. Elsewhere, a neutral name does not count.
  static bool disputes(const Candidate& other, const Candidate& one) {
    if ((other.depth() == 0) != (one.depth() == 0)) {
      return other.depth() == 0;
    }
    if (other.depth() == 0 || parent_path(other.file) == parent_path(one.file)) {
      return usual_place(one) >= usual_place(other);
    }
    const bool is_reported_by_name =
        (one.purpose == Purpose::training ||
         (one.purpose == Purpose::entry && one.depth() <= other.depth())) &&
        other.purpose != Purpose::training && other.purpose != Purpose::entry;
    return !is_reported_by_name &&
           (other.depth() < one.depth() || !has_usual_name(one) || one.depth() == other.depth());
  }

  const Candidates& found_;
  std::vector<Candidate> best_;
};

void add_hints(Error& error, const std::vector<Inferred>& choices) {
  for (std::size_t i = 0; i < std::min(choices.size(), most_choices_shown); ++i) {
    error.hint(fmt::format("{} {}", choices[i].flag, shell_quote(choices[i].value)));
  }
  if (choices.size() > most_choices_shown) {
    error.hint(fmt::format("or one of {} more", choices.size() - most_choices_shown));
  }
}

/// Explains why there is nothing to run, from what exists instead.
Error nothing_to_run(const Candidates& found, const std::string& directory) {
  constexpr auto* flags =
      "`--script FILE`, `--python-module MODULE` or `--command WORD,...` names the program";
  if (!found.aside.empty()) {
    Error error(ErrorKind::usage,
                fmt::format("nothing to run: by their names, the programs in `{}` are for tests, "
                            "evaluation or the like",
                            directory));
    for (std::size_t i = 0; i < std::min(found.aside.size(), most_aside_shown); ++i) {
      error.hint(fmt::format("--script {}", shell_quote(found.aside[i])));
    }
    return error;
  }
  if (found.has_modules) {
    return Error(ErrorKind::usage,
                 fmt::format("nothing to run: by their places and names, the programs in `{}` are "
                             "modules that others import",
                             directory))
        .hint(flags);
  }
  if (found.has_definitions) {
    return Error(ErrorKind::usage,
                 fmt::format("nothing to run: the Python files in `{}` only define functions and "
                             "classes",
                             directory))
        .hint(flags);
  }
  if (!found.notebooks.empty()) {
    return {ErrorKind::usage,
            fmt::format("nothing to run: `{}` has notebooks and no Python program", directory)};
  }
  return Error(ErrorKind::usage,
               fmt::format("nothing to run: there is no Python program in `{}`", directory))
      .hint(flags);
}

std::vector<Inferred> choices_of(const Candidates& found, const StartingForm& form) {
  std::vector<Inferred> choices;
  for (const auto& program : EntryPick{found}.choices()) {
    choices.push_back(form.of(program));
    choices.back().reason.clear();
  }
  if (!choices.empty() && found.programs.front().rank <= Rank::program) {
    for (std::size_t i = 0; i < std::min(found.aside.size(), most_aside_shown); ++i) {
      choices.push_back({"script", found.aside[i], "", "--script"});
    }
  }
  for (const auto& shell : found.shells) {
    choices.push_back({"script", shell, "", "--script"});
  }
  return choices;
}

Inferred inferred(const Candidate& chosen, const StartingForm& form) {
  Inferred entry = form.of(chosen);
  const auto reason = EntryPick::reason(chosen);
  entry.reason = entry.reason.empty() ? reason : fmt::format("{}; {}", reason, entry.reason);
  return entry;
}

/// Returns the clear candidate; looks below the root only if there is none at it.
std::optional<Inferred> search_entry(CandidateSearch& search) {
  const StartingForm form{search};
  const auto root = search.at_root();
  const EntryPick pick{root};
  if (const auto* const chosen = pick.at_root()) {
    return inferred(*chosen, form);
  }
  const auto all = search.everywhere();
  const EntryPick last_pick{all};
  const auto* const chosen = last_pick.anywhere();
  return chosen == nullptr ? std::nullopt : std::optional{inferred(*chosen, form)};
}

}  // namespace

std::vector<Inferred> entry_choices(const source::Tree& tree, const Request& request) {
  CandidateSearch search{tree, request};
  const auto found = search.everywhere();
  return choices_of(found, StartingForm{search});
}

void choose_entry(const Inferred& entry, Request& request) {
  if (entry.what == "command") {
    request.command = {entry.value};
  } else if (entry.what == "module") {
    request.module = entry.value;
  } else {
    request.script = entry.value;
  }
}

std::optional<Inferred> find_entry(const source::Tree& tree, Request& request) {
  CandidateSearch search{tree, request};
  auto entry = search_entry(search);
  if (entry) {
    choose_entry(*entry, request);
  }
  return entry;
}

Inferred infer_entry(const source::Tree& tree, Request& request, const std::string& directory) {
  CandidateSearch search{tree, request};
  if (auto entry = search_entry(search)) {
    choose_entry(*entry, request);
    return *std::move(entry);
  }
  const auto found = search.everywhere();
  const auto choices = choices_of(found, StartingForm{search});
  if (choices.empty()) {
    auto error = nothing_to_run(found, printable(directory));
    for (std::size_t i = 0; i < std::min(found.notebooks.size(), most_notebooks_shown); ++i) {
      error.hint(fmt::format("`--script={}` runs the cells of the notebook",
                             shell_quote(found.notebooks[i])));
    }
    throw std::move(error);
  }
  Error error(
      ErrorKind::usage,
      choices.size() == 1
          ? fmt::format("nothing to run: no obvious Python program in `{}`", printable(directory))
          : fmt::format("several programs could be meant to run in `{}`", printable(directory)));
  add_hints(error, choices);
  throw std::move(error);
}

}  // namespace autopack::project
