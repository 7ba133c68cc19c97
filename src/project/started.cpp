#include "project/started.hpp"

#include "base/text.hpp"
#include "project/entry.hpp"
#include "project/launcher.hpp"
#include "project/shell_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace autopack::project {

namespace {

constexpr std::size_t most_scripts{30};
constexpr std::uint64_t largest_script{500'000};

using Words = std::vector<ShellWord>;

/// Programs that run the program after their own options.
bool is_wrapper(std::string_view name) {
  static constexpr std::array<std::string_view, 22> names{
      "exec",   "nohup",  "time",    "sudo",    "env",     "nice",       "stdbuf", "setsid",
      "srun",   "mpirun", "mpiexec", "ibrun",   "jsrun",   "horovodrun", "uv",     "poetry",
      "pipenv", "pdm",    "conda",   "taskset", "numactl", "xvfb-run"};
  static constexpr std::array<std::string_view, 5> more{"timeout", "command", "nsys", "ncu",
                                                        "eval"};
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::find(more.begin(), more.end(), name) != more.end();
}

bool is_shell(std::string_view name) {
  return name == "bash" || name == "sh" || name == "zsh" || name == "source" || name == ".";
}

std::string program_of(const ShellWord& word) {
  return word ? base_name(*word) : std::string{};
}

bool starts_python(const Words& words, std::size_t at) {
  const std::string name = program_of(words[at]);
  if (name.empty()) {
    return false;
  }
  const std::vector<std::string> one{name};
  const auto launcher = find_launcher(one);
  return launcher && launcher->starts_python;
}

class StartedReader {
public:
  StartedReader(const Findings& findings, Project& project)
      : findings_{findings}, project_{project} {}

  void read_script(const std::string& path) {
    const Place place = findings_.follow(path);
    const bool is_new = seen_.size() < most_scripts && seen_.insert(path).second;
    if (!is_new || !place.is_file() || findings_.is_ignored(place.entry.path) ||
        place.entry.size > largest_script) {
      return;
    }
    const std::string file = std::exchange(file_, path);
    read_text(findings_.tree().read(place.entry.path), parent_path(path));
    file_ = file;
  }

  void read_text(std::string_view text, const std::string& directory) {
    const auto outer = directory_;
    for (const auto& command : read_shell(text, directory)) {
      line_ = command.line;
      read_command(command);
    }
    directory_ = outer;
  }

  void read_words(const Words& words) { read_command({.words = words, .line = 0}); }

private:
  void read_command(const ShellCommand& command) {
    if (const auto path = command.assignments.find("PYTHONPATH");
        path != command.assignments.end()) {
      add_python_path(path->second);
    }
    if (command.words.empty()) {
      return;
    }
    const std::string first = program_of(command.words.front());
    if (first == "cd" || first == "pushd") {
      change_directory(command);
      return;
    }
    for (std::size_t at = 0; at < command.words.size(); ++at) {
      const std::string name = program_of(command.words[at]);
      if (starts_python(command.words, at)) {
        read_python(command.words, at);
        return;
      }
      if (is_shell(name) || (at == 0 && name.ends_with(".sh"))) {
        read_shell_words(command.words, name.ends_with(".sh") ? at : at + 1);
        return;
      }
      if (at == 0 && !is_wrapper(name)) {
        return;
      }
    }
  }

  void add_python_path(const std::string& value) {
    for (const auto& part : split(value, ':')) {
      const bool is_known = !part.empty() && part.find(unknown_part) == std::string::npos;
      if (const auto path = is_known ? inside(part) : std::nullopt) {
        project_.python_path.push_back(*path);
      }
    }
  }

  /// A subshell's change of directory counts to its end only, which is not looked for: after it the
  /// directory is not known.
  void change_directory(const ShellCommand& command) {
    const auto& words = command.words;
    directory_ =
        words.size() > 1 && words[1] && !command.in_subshell ? inside(*words[1]) : std::nullopt;
  }

  /// `path` of a command, from the directory it runs in, as one of the tree.
  std::optional<std::string> inside(const std::string& path) const {
    static constexpr std::string_view home{"/usr/app"};
    if (path == home || path.starts_with("/usr/app/")) {
      return source::normalise(path.substr(std::min(path.size(), home.size() + 1)));
    }
    return path.starts_with('/') || path.starts_with('~') || !directory_
               ? std::nullopt
               : source::normalise(join_path(*directory_, path));
  }

  void read_shell_words(const Words& words, std::size_t at) {
    for (; at < words.size() && words[at] && words[at]->starts_with('-'); ++at) {
      if (words[at]->ends_with('c') && at + 1 < words.size() && words[at + 1]) {
        read_text(*words[at + 1], directory_.value_or(""));
        return;
      }
    }
    if (at >= words.size() || !words[at]) {
      return;
    }
    if (const auto path = inside(*words[at])) {
      const auto outer = directory_;
      read_script(*path);
      directory_ = outer;
    }
  }

  /// What Python, or a launcher of Python, runs: the first word that is no option of theirs. A
  /// launcher's options may take values, and may not be known, so only `x.py` is such a word.
  void read_python(const Words& words, std::size_t at) {
    const bool plain = is_interpreter(program_of(words[at]));
    bool guesses = false;
    for (++at; at < words.size(); ++at) {
      if (!words[at]) {
        if (plain) {
          return;
        }
        guesses = true;
        continue;
      }
      const std::string& word = *words[at];
      if (word == "-m" || word == "--module") {
        read_module(words, at + 1, plain);
        return;
      }
      if (plain && (word == "-c" || word == "-")) {
        return;
      }
      if (plain && (word == "-X" || word == "-W")) {
        ++at;
      } else if (!word.starts_with('-') && (plain || word.ends_with(".py"))) {
        // Behind what is not known, `--config x.py` may be an argument of the program.
        if (!guesses || !words[at - 1] || !words[at - 1]->starts_with('-')) {
          add_script(word);
        }
        return;
      }
    }
  }

  void read_module(const Words& words, std::size_t at, bool plain) {
    if (at >= words.size() || !words[at]) {
      return;
    }
    const std::string module = *words[at];
    const std::vector<std::string> as_typed{"python", "-m", module};
    const auto launcher = plain ? find_launcher(as_typed) : std::nullopt;
    if (launcher && launcher->module_flag) {
      // The module is a launcher itself.
      Words rest{std::string{"torchrun"}};
      rest.insert(rest.end(), words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
      read_python(rest, 0);
      return;
    }
    add_module(module);
  }

  void add_script(const std::string& word) {
    const auto path = inside(word);
    if (!path || path->empty()) {
      return;
    }
    const Place place = findings_.follow(*path);
    Started started{.kind = EntryKind::python_script, .value = *path, .origin = origin()};
    if (place.is_file()) {
      started.file = place.entry.path;
    } else if (place.is_directory()) {
      const std::string main = join_path(place.entry.path, "__main__.py");
      started.file = findings_.is_file(main) ? std::optional{main} : std::nullopt;
    }
    started.root = parent_path(started.file.value_or(*path));
    add(std::move(started));
  }

  void add_module(const std::string& module) {
    if (!directory_) {
      return;
    }
    Started started{
        .kind = EntryKind::module, .value = module, .root = *directory_, .origin = origin()};
    std::vector<std::string> roots{*directory_};
    roots.insert(roots.end(), project_.python_path.begin(), project_.python_path.end());
    if (project_.package) {
      roots.push_back(project_.package->import_root);
    }
    const std::string first = module.substr(0, module.find('.'));
    bool is_here = false;
    for (const auto& root : roots) {
      if (!started.file) {
        started.file = module_file(findings_, root, module);
      }
      const std::string path = join_path(root, first);
      is_here = is_here || findings_.is_directory(path) || findings_.is_file(path + ".py");
    }
    started.kind = is_here ? EntryKind::module : EntryKind::installed_module;
    add(std::move(started));
  }

  std::string origin() const {
    return file_.empty() ? "command" : fmt::format("{}:{}", printable(file_), line_);
  }

  void add(Started started) {
    auto& all = project_.started;
    const bool is_known = std::any_of(all.begin(), all.end(), [&](const Started& other) {
      return other.kind == started.kind && other.value == started.value;
    });
    if (!is_known) {
      all.push_back(std::move(started));
    }
  }

  const Findings& findings_;
  Project& project_;
  std::optional<std::string> directory_{""};  ///< where commands run; none: not known
  std::string file_;
  int line_{0};
  std::set<std::string> seen_;
};

}  // namespace

void read_started(const Findings& findings, Project& project) {
  StartedReader reader{findings, project};
  const Entry& entry = project.entry;
  if (entry.kind == EntryKind::shell_script && entry.file) {
    reader.read_script(*entry.file);
  } else if (entry.kind == EntryKind::program) {
    reader.read_words({entry.words.begin(), entry.words.end()});
  }
  sort_unique(project.python_path);
}

}  // namespace autopack::project
