#include "project/program/started.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/certain.hpp"
#include "project/code/shell_commands.hpp"
#include "project/program/entry.hpp"
#include "project/program/launcher.hpp"
#include "project/program/script_language.hpp"
#include "project/program/shell_programs.hpp"

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
  return contains(names, name) || contains(more, name);
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

  /// Reads the shell script `path`, which bash runs.
  void read_script(const std::string& path) {
    const Place place = findings_.follow(path);
    const bool is_new = seen_.size() < most_scripts && seen_.insert(path).second;
    if (!is_new || !place.is_file() || findings_.is_ignored(place.entry.path) ||
        place.entry.size > largest_script) {
      return;
    }
    const std::string text = findings_.tree().read(place.entry.path);
    if (!is_for_bash(place.entry.path, text)) {
      return;
    }
    const std::string file = std::exchange(file_, path);
    read_text(text, parent_path(path));
    file_ = file;
  }

  void read_words(const Words& words) { read_command({.words = words, .line = 0}); }

  StartNeeds take_needs() {
    return {.programs = programs_.take(), .problems = std::move(problems_)};
  }

private:
  void read_text(std::string_view text, const std::string& directory) {
    const auto outer = directory_;
    const bool outer_doubt = is_doubtful_;
    bool is_reported = file_.empty();
    const auto commands = read_shell(text, directory);
    if (!file_.empty() && file_ == project_.entry.file) {
      check_status(text, commands);
    }
    for (const auto& command : commands) {
      line_ = command.line;
      if (command.windows_line_end && !is_reported) {
        is_reported = true;
        warn(file_ == project_.entry.file && !command.optional,
             fmt::format("`{}` has Windows line ends, which bash reads as part of the commands",
                         printable(file_)),
             origin(), {fmt::format("sed -i 's/\\r$//' {}", shell_quote(file_))});
      }
      read_command(command);
    }
    directory_ = outer;
    is_doubtful_ = outer_doubt;
  }

  /// Reports what makes the job succeed although a program failed: a script ends with the status of
  /// its last command, and a pipe with that of its last program.
  void check_status(std::string_view text, const std::vector<ShellCommand>& commands) {
    static constexpr std::array<std::string_view, 5> handlers{"pipefail", "PIPESTATUS", "trap ",
                                                              "errexit", "$?"};
    const auto is_in_text = [&](std::string_view word) {
      return text.find(word) != std::string_view::npos;
    };
    const auto runs = std::ranges::find_if(commands, [&](const auto& one) {
      return !one.optional && !one.handled && runs_python(one.words);
    });
    if (runs == commands.end() || std::ranges::any_of(handlers, is_in_text)) {
      return;
    }
    for (auto one = runs; one + 1 < commands.end(); ++one) {
      const bool is_lost = one->piped && program_is((one + 1)->words, {"tee", "ts", "cat"});
      if (is_lost && !one->optional && runs_python(one->words)) {
        warn_of_status(one->line,
                       fmt::format("a failure of `{}` is lost behind `| {}`",
                                   printable(started_by(one->words)), *(one + 1)->words.front()));
        return;
      }
    }
    const auto& last = commands.back();
    const bool succeeds = program_is(last.words, {"echo", "printf", "date", "true", ":", "sleep"});
    const bool is_lost = succeeds && !last.optional && !last.after_success && !last.defines;
    if (is_lost && std::ranges::none_of(commands, stops_at_failures)) {
      warn_of_status(runs->line,
                     fmt::format("a failure of `{}` is lost: the script continues, and "
                                 "its last command, `{}`, succeeds",
                                 printable(started_by(runs->words)), *last.words.front()));
    }
  }

  void warn_of_status(int line, std::string what) {
    warn(false, std::move(what), fmt::format("{}:{}", printable(file_), line),
         {fmt::format("begin `{}` with `set -eo pipefail`", printable(file_))});
  }

  static bool program_is(const Words& words, std::initializer_list<std::string_view> names) {
    return !words.empty() && words.front() &&
           std::ranges::find(names, *words.front()) != names.end();
  }

  /// `set -e`, `set -euxo pipefail`
  static bool stops_at_failures(const ShellCommand& command) {
    const auto& words = command.words;
    return program_is(words, {"set"}) && std::ranges::any_of(words, [](const ShellWord& word) {
             return word && word->starts_with('-') && word->find('e') != std::string::npos;
           });
  }

  static bool runs_python(const Words& words) { return !started_by(words).empty(); }

  /// `python3 train.py` or `python3 -m trainer` as it is written, without its arguments; empty if
  /// no program of Python's is named.
  static std::string started_by(const Words& words) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      if (starts_python(words, at)) {
        std::string text;
        for (; at < words.size() && words[at]; ++at) {
          text += (text.empty() ? "" : " ") + *words[at];
          const bool is_module = at > 0 && words[at - 1] && *words[at - 1] == "-m";
          if (is_module || words[at]->ends_with(".py")) {
            return text;
          }
        }
        return {};
      }
      if (!is_wrapper(program_of(words[at])) && at == 0) {
        return {};
      }
    }
    return {};
  }

  /// `ends`: the program certainly fails there.
  void warn(bool ends, std::string message, std::string origin, std::vector<std::string> hints) {
    Problem problem{.severity = Problem::Severity::warning,
                    .message = std::move(message),
                    .origin = std::move(origin),
                    .hints = std::move(hints)};
    problems_.push_back(ends ? certain(std::move(problem)) : std::move(problem));
  }

  /// Returns false, with a warning, for a file in another language.
  bool is_for_bash(const std::string& path, std::string_view text) {
    const auto language = language_of(path, text);
    if (language.kind == ScriptLanguage::Kind::shell) {
      return true;
    }
    const bool is_entry = file_.empty() && project_.entry.file == path;
    std::string what = "is a compiled program";
    std::string hint = path.find('/') == std::string::npos ? "./" + path : path;
    if (language.kind != ScriptLanguage::Kind::binary) {
      const std::string program = language.program.value_or("python3");
      what = fmt::format("is a program for `{}`", printable(program));
      hint = fmt::format("{}{}{}", program, is_entry ? "," : " ", path);
    }
    hint = is_entry ? fmt::format("--command={}", shell_quote(hint))
                    : fmt::format("`{}`", printable(hint));
    warn(is_entry || file_.empty(), fmt::format("`{}` {}, and bash runs it", printable(path), what),
         is_entry ? "script" : origin(), {std::move(hint)});
    return false;
  }

  void read_command(const ShellCommand& command) {
    is_certain_ = !command.optional && !is_doubtful_;
    programs_.read(command, origin());
    follow_command(command);
    programs_.note_changes(command);
  }

  void follow_command(const ShellCommand& command) {
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
    if (command.defines) {
      return;
    }
    is_child_ = first != "exec";
    const auto outer = directory_;
    if (first == "env") {
      change_directory_of_env(command.words);
    }
    run_words(command.words);
    directory_ = outer;
  }

  void run_words(const Words& words) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      const std::string name = program_of(words[at]);
      if (starts_python(words, at)) {
        read_python(words, at);
        return;
      }
      if (is_shell(name)) {
        read_shell_words(words, at + 1);
        return;
      }
      if (at == 0 && !is_wrapper(name)) {
        run_file(words[at]);
        return;
      }
    }
  }

  /// Handles `./train.py`, which the system starts with the interpreter in its first line.
  void run_file(const ShellWord& word) {
    const auto path = word && word->find('/') != std::string::npos ? inside(*word) : std::nullopt;
    if (!path) {
      return;
    }
    const Place place = findings_.follow(*path);
    if (!place.is_file()) {
      if (path->ends_with(".py") || path->ends_with(".sh")) {
        miss(*path);
      }
      return;
    }
    if (findings_.is_ignored(place.entry.path) || place.entry.size > largest_script) {
      return;
    }
    const std::string text = findings_.tree().read(place.entry.path);
    const auto language = language_of(*path, text);
    check_execution(*path, place.entry, language, text.starts_with("#!"));
    if (language.by_env && language.program && is_certain_) {
      programs_.use(*language.program, origin(), language.kind == ScriptLanguage::Kind::python);
    }
    if (language.kind == ScriptLanguage::Kind::python) {
      add_script(*word);
    } else if (language.kind == ScriptLanguage::Kind::shell) {
      follow_script(*path);
    }
  }

  void check_execution(const std::string& path,
                       const source::Entry& entry,
                       const ScriptLanguage& language,
                       bool has_first_line) {
    if (!is_certain_ || programs_.may_have_made(path)) {
      return;
    }
    const bool is_python = language.kind == ScriptLanguage::Kind::python;
    if (!entry.executable) {
      warn(file_.empty(), fmt::format("`{}` is run here, and is not executable", printable(path)),
           origin(), {fmt::format("chmod +x {}", shell_quote(path))});
    } else if (language.windows_line_end) {
      warn(file_.empty(),
           fmt::format("the first line of `{}` has a Windows line end, so that its "
                       "interpreter is not found",
                       printable(path)),
           origin(), {fmt::format("sed -i 's/\\r$//' {}", shell_quote(path))});
    } else if (is_python && !has_first_line) {
      warn(file_.empty(),
           fmt::format("`{}` has no `#!` line, so that the shell and not Python runs it",
                       printable(path)),
           origin(), {fmt::format("`python3 {}`", printable(path))});
    }
  }

  void follow_script(const std::string& path) {
    if (const Place place = findings_.follow(path); !place.is_file()) {
      miss(path);
      return;
    }
    if (is_certain_) {
      add({.kind = EntryKind::shell_script,
           .value = path,
           .file = findings_.follow(path).entry.path,
           .root = parent_path(path),
           .origin = origin()});
    }
    const auto outer = directory_;
    const int line = line_;
    read_script(path);
    line_ = line;
    directory_ = outer;
  }

  /// Reports a missing file that is run, unless an earlier command may have created it.
  void miss(const std::string& path) {
    if (is_certain_ && !path.empty() && !programs_.may_have_made(path)) {
      add({.kind = EntryKind::shell_script, .value = path, .origin = origin()});
    }
  }

  /// Handles `env -C jobs python3 fit.py`.
  void change_directory_of_env(const Words& words) {
    for (std::size_t at = 1; at < words.size() && words[at]; ++at) {
      const std::string& word = *words[at];
      const bool is_flag = word == "-C" || word == "--chdir";
      if (is_flag && at + 1 < words.size() && words[at + 1]) {
        directory_ = inside(*words[at + 1]);
        return;
      }
      if (word.starts_with("--chdir=")) {
        directory_ = inside(word.substr(std::string_view{"--chdir="}.size()));
        return;
      }
      if (!word.starts_with('-') && word.find('=') == std::string::npos) {
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

  /// A subshell's change of directory is valid only to its end, which we do not track: after it the
  /// directory is unknown.
  void change_directory(const ShellCommand& command) {
    const auto& words = command.words;
    directory_ =
        words.size() > 1 && words[1] && !command.in_subshell ? inside(*words[1]) : std::nullopt;
    is_doubtful_ = is_doubtful_ || command.optional || !command.function.empty() ||
                   !findings_.is_directory(directory_.value_or(""));
  }

  /// Returns `path` of a command, relative to its directory, as a path of the tree.
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
      const bool reads_profile = words[at]->find_first_of("il") != std::string::npos;
      if (reads_profile) {
        programs_.lose_path();
      }
      if (words[at]->ends_with('c') && at + 1 < words.size() && words[at + 1]) {
        read_text(*words[at + 1], directory_.value_or(""));
        return;
      }
    }
    const auto path = at < words.size() && words[at] ? inside(*words[at]) : std::nullopt;
    if (path && findings_.is_file(*path)) {
      follow_script(*path);
      return;
    }
    const std::string first = program_of(words.front());
    if (first == "source" || first == ".") {
      programs_.lose_path();
    }
    // `source activate` searches PATH first.
    if (path && words[at]->find_first_of("./") != std::string::npos) {
      miss(*path);
    }
  }

  /// Finds the program that Python, or a launcher of Python, runs: the first word that is not an
  /// option. A launcher's options may have values, and may be unknown, so only `x.py` is accepted.
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
        // After an unknown option, `--config x.py` may be an argument of the program.
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
      // The module itself is a launcher.
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
    started.is_child = is_child_;
    auto& all = project_.started;
    const bool is_known = std::ranges::any_of(all, [&](const Started& other) {
      return other.kind == started.kind && other.value == started.value;
    });
    if (!is_known) {
      all.push_back(std::move(started));
    }
  }

  const Findings& findings_;
  Problems problems_;
  Project& project_;
  ShellPrograms programs_;
  std::optional<std::string> directory_{""};  ///< the directory of commands; absent: unknown
  bool is_doubtful_{false};                   ///< the directory may be a different one
  bool is_child_{true};                       ///< the command leaves the shell running
  bool is_certain_{true};                     ///< the command surely runs, in that directory
  std::string file_;
  int line_{0};
  std::set<std::string> seen_;
};

StartNeeds follow_entry(const Findings& findings, Project& project) {
  StartedReader reader{findings, project};
  const Entry& entry = project.entry;
  if (entry.kind == EntryKind::shell_script && entry.file) {
    reader.read_script(*entry.file);
  } else if (entry.kind == EntryKind::program) {
    reader.read_words({entry.words.begin(), entry.words.end()});
  }
  return reader.take_needs();
}

}  // namespace

void read_started(const Findings& findings, Project& project) {
  follow_entry(findings, project);
  sort_unique(project.python_path);
}

StartNeeds find_start_needs(const source::Tree& tree, const Project& project) {
  if (project.entry.kind != EntryKind::shell_script && project.entry.kind != EntryKind::program) {
    return {};
  }
  const Findings findings{tree, project.ignore};
  Project scratch{.entry = project.entry};
  return follow_entry(findings, scratch);
}

}  // namespace autopack::project
