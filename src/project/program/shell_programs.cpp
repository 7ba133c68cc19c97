#include "project/program/shell_programs.hpp"

#include "base/contains.hpp"
#include "base/tree_path.hpp"
#include "project/findings.hpp"
#include "project/program/launcher.hpp"

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

template <std::size_t count>
bool is_listed(std::string_view name, const std::array<std::string_view, count>& names) {
  return contains(names, name);
}

/// Shell builtins, GNU core utilities, and packages that every Debian has.
constexpr std::array<std::string_view, 150> everywhere{
    ".",      ":",          "[",        "[[",        "alias",     "arch",     "awk",
    "base64", "basename",   "bash",     "bg",        "bind",      "break",    "builtin",
    "caller", "case",       "cat",      "cd",        "chgrp",     "chmod",    "chown",
    "cksum",  "clear",      "comm",     "command",   "compgen",   "complete", "continue",
    "cp",     "cut",        "date",     "dd",        "declare",   "df",       "dirname",
    "dirs",   "disown",     "du",       "echo",      "egrep",     "enable",   "env",
    "eval",   "exec",       "exit",     "expand",    "export",    "expr",     "factor",
    "false",  "fc",         "fg",       "fgrep",     "find",      "fmt",      "fold",
    "for",    "free",       "function", "getopt",    "getopts",   "grep",     "groups",
    "gunzip", "gzip",       "hash",     "head",      "help",      "history",  "hostname",
    "id",     "install",    "jobs",     "join",      "kill",      "let",      "link",
    "ln",     "local",      "logout",   "ls",        "lscpu",     "mapfile",  "md5sum",
    "mkdir",  "mkfifo",     "mktemp",   "mv",        "nice",      "nl",       "nohup",
    "nproc",  "nvidia-smi", "od",       "paste",     "popd",      "printenv", "printf",
    "pushd",  "pwd",        "read",     "readarray", "readlink",  "readonly", "realpath",
    "reset",  "return",     "rm",       "rmdir",     "sed",       "select",   "seq",
    "set",    "setsid",     "sh",       "sha1sum",   "sha256sum", "shift",    "shopt",
    "shuf",   "sleep",      "sort",     "source",    "split",     "stat",     "stdbuf",
    "stty",   "suspend",    "sync",     "tac",       "tail",      "tar",      "tee",
    "test",   "time",       "timeout",  "times",     "touch",     "tput",     "tr",
    "trap",   "true",       "truncate", "tsort",     "tty",       "type",     "typeset",
    "ulimit", "umask",      "uname",
};

constexpr std::array<std::string_view, 21> more_everywhere{
    "unalias", "unexpand", "uniq",  "unlink",  "unset",  "until",  "users",
    "wait",    "wc",       "which", "while",   "who",    "whoami", "xargs",
    "yes",     "zcat",     "sum",   "runuser", "chroot", "su",     "mount"};

/// Programs that run the program after their own options.
constexpr std::array<std::string_view, 13> wrappers{
    "exec",   "nohup",   "time",    "sudo",    "env",  "nice", "stdbuf",
    "setsid", "timeout", "command", "builtin", "eval", "xargs"};

/// Programs that may install others.
constexpr std::array<std::string_view, 21> installers{
    "apt", "apt-get", "aptitude", "dpkg",   "yum",        "dnf",  "microdnf",
    "rpm", "apk",     "pacman",   "zypper", "brew",       "snap", "module",
    "ml",  "spack",   "conda",    "mamba",  "micromamba", "npm",  "nvm"};

/// Programs that may create files.
constexpr std::array<std::string_view, 24> file_makers{"git",
                                                       "tar",
                                                       "unzip",
                                                       "wget",
                                                       "curl",
                                                       "make",
                                                       "cmake",
                                                       "cp",
                                                       "mv",
                                                       "rsync",
                                                       "aws",
                                                       "gsutil",
                                                       "gcloud",
                                                       "kaggle",
                                                       "gdown",
                                                       "7z",
                                                       "aria2c",
                                                       "scp",
                                                       "huggingface-cli",
                                                       "hf",
                                                       "install",
                                                       "ln",
                                                       "patch",
                                                       "gunzip"};

bool is_value_of_option(std::string_view word) {
  return !word.empty() && (word.front() == '-' || (word.front() >= '0' && word.front() <= '9') ||
                           word.find('=') != std::string_view::npos);
}

/// Returns the index of the program that the one at `at` runs; the number of words if there is
/// none.
std::size_t wrapped_at(const std::vector<ShellWord>& words, std::size_t at) {
  for (++at; at < words.size() && words[at] && is_value_of_option(*words[at]); ++at) {
    const bool takes_value = *words[at] == "-u" || *words[at] == "-C" || *words[at] == "-n" ||
                             *words[at] == "-a" || *words[at] == "-I";
    at += takes_value ? 1 : 0;
  }
  return at;
}

}  // namespace

bool is_in_every_shell(std::string_view program) {
  return is_listed(program, everywhere) || is_listed(program, more_everywhere);
}

void ShellPrograms::read(const ShellCommand& command, const std::string& origin) {
  if (command.defines) {
    defined_.insert(*command.words.front());
    return;
  }
  if (!command.optional) {
    read_words(command.words, origin);
  }
}

void ShellPrograms::read_words(const std::vector<ShellWord>& words, const std::string& origin) {
  for (std::size_t at = 0; at < words.size() && words[at];) {
    const std::string& name = *words[at];
    if (name.find('/') != std::string::npos || defined_.contains(name)) {
      return;
    }
    const bool asks = name == "command" && words.size() > at + 1 && words[at + 1] &&
                      words[at + 1]->starts_with("-") && *words[at + 1] != "-p";
    if (asks) {
      return;
    }
    const bool is_wrapper = is_listed(name, wrappers);
    const std::vector<std::string> one{name};
    const auto launcher = find_launcher(one);
    use(name, origin, launcher && launcher->starts_python);
    if (is_wrapper) {
      at = wrapped_at(words, at);
      continue;
    }
    if (launcher && !launcher->starts_python) {
      // `mpirun -np 2 python train.py`
      const auto* const python =
          &*std::find_if(words.begin() + static_cast<std::ptrdiff_t>(at), words.end() - 1,
                         [](const ShellWord& word) { return word && is_interpreter(*word); });
      if (*python && is_interpreter(**python) && python->value().find('/') == std::string::npos) {
        use(**python, origin, true);
      }
    }
    return;
  }
}

void ShellPrograms::use(const std::string& name, const std::string& origin, bool starts_python) {
  const bool is_name = !name.empty() && name.front() != '-' && name != "]]" && name != "}" &&
                       name.find_first_of("$*?{}()[]\"'`~%@!,:=\x01 \t\n") == std::string::npos;
  const bool is_known =
      std::ranges::any_of(used_, [&](const UsedProgram& other) { return other.name == name; });
  if (path_is_known_ && is_name && !is_known && !defined_.contains(name) &&
      !is_in_every_shell(name)) {
    used_.push_back(
        {.name = name, .origin = origin, .starts_python = starts_python, .after_pip = runs_pip_});
  }
}

void ShellPrograms::note_changes(const ShellCommand& command) {
  path_is_known_ = path_is_known_ && !command.assignments.contains("PATH");
  words_.insert(command.files.begin(), command.files.end());
  const auto& words = command.words;
  const std::string first = words.empty() ? "" : words.front().value_or("");
  const bool asks = first == "which" || first == "type" || first == "hash" ||
                    (first == "command" && words.size() > 2);
  for (const auto& word : words) {
    if (!word) {
      continue;
    }
    if (asks) {
      asked_.insert(*word);
    }
    if (first == "alias") {
      defined_.insert(word->substr(0, word->find('=')));
    }
    const std::string name = base_name(*word);
    makes_files_ = makes_files_ || is_listed(name, file_makers);
    path_is_known_ = path_is_known_ && !is_listed(name, installers);
    if (first != "source" && first != "." && first != "bash" && first != "sh") {
      words_.insert(*word);
    }
  }
  runs_pip_ = runs_pip_ || first == "pip" || first == "pip3" || first == "uv" ||
              contains(words, ShellWord{"pip"});
  // The effect of an unknown text is unknown; `curl ... | sh` installs something.
  const bool is_unknown = first == "eval" && contains(words, std::nullopt);
  const bool reads_pipe = (first == "sh" || first == "bash") && words.size() == 1;
  path_is_known_ = path_is_known_ && !is_unknown && !reads_pipe;
}

bool ShellPrograms::may_have_made(const std::string& path) const {
  return makes_files_ || std::ranges::any_of(words_, [&](const std::string& word) {
           return !word.empty() && base_name(word) == base_name(path);
         });
}

std::vector<UsedProgram> ShellPrograms::take() const {
  auto used = used_;
  std::erase_if(used, [&](const UsedProgram& one) { return asked_.contains(one.name); });
  return used;
}

}  // namespace autopack::project
