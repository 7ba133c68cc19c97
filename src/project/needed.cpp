#include "project/needed.hpp"

#include "base/text.hpp"
#include "project/imports.hpp"
#include "project/python_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

namespace autopack::project {

namespace {

constexpr std::size_t most_files{2000};
constexpr std::uint64_t largest_code{1'000'000};
constexpr std::uint64_t largest_named{1'000'000};
constexpr std::size_t longest_name{200};

/// Follows a program through its files, from its entry on.
class NeededFiles {
public:
  NeededFiles(Findings& findings, const Project& project)
      : findings_{&findings}, ignore_{project.ignore} {
    roots_ = {parent_path(project.entry.file), ""};
    if (project.package) {
      roots_.push_back(project.package->import_root);
    }
    sort_unique(roots_);
  }

  void follow(const std::string& entry) {
    visit(entry);
    for (; !waiting_.empty() && seen_.size() < most_files; waiting_.pop_front()) {
      read(waiting_.front());
    }
  }

private:
  void visit(const std::string& path) {
    if (seen_.insert(path).second) {
      waiting_.push_back(path);
    }
  }

  /// Takes `path` in when only git ignores it.
  void need(const std::string& path, const std::string& from, int line, const char* how) {
    if (ignore_.is_only_ignored_by_git(path)) {
      ignore_.keep(path, fmt::format("`{}` line {} {} it", printable(from), line, how));
    }
  }

  void read(const std::string& path) {
    const auto place = findings_->follow(path);
    if (!place.is_file() || place.entry.size > largest_code) {
      return;
    }
    const std::string text = findings_->tree().read(place.entry.path);
    if (!path.ends_with(".py")) {
      read_script(path, text);
      return;
    }
    for (const Import& import : read_imports(text).imports) {
      read_import(path, import);
    }
    for (const Token& token : tokenize_python(text)) {
      if (token.kind == Token::Kind::string && !token.computed) {
        name(token.text, path, token.line);
      }
    }
  }

  /// A shell's words.
  void read_script(const std::string& path, std::string_view text) {
    int line = 1;
    std::string word;
    for (const char c : text) {
      if (std::string_view{" \t\n\"'=;()"}.find(c) == std::string_view::npos) {
        word += c;
        continue;
      }
      name(word, path, line);
      if (word.ends_with(".py")) {
        roots_.push_back(parent_path(normal(word, "")));
        sort_unique(roots_);
        visit(normal(word, ""));
      }
      word.clear();
      line += c == '\n' ? 1 : 0;
    }
  }

  static std::string normal(std::string_view text, std::string_view directory) {
    return source::normalise(join_path(directory, text)).value_or("");
  }

  /// A text that may be the path of a file, from the working directory or from where it stands.
  void name(std::string_view text, const std::string& path, int line) {
    const bool looks_like_one = !text.empty() && text.size() <= longest_name && text[0] != '/' &&
                                text.find_first_of("/.") != std::string_view::npos &&
                                text.find_first_of(" \n\t<>{}*?%") == std::string_view::npos &&
                                text.find("://") == std::string_view::npos;
    if (!looks_like_one || !named_.emplace(text).second) {
      return;
    }
    for (const std::string& directory : {std::string{}, parent_path(path)}) {
      const std::string wanted = normal(text, directory);
      const auto entry = wanted.empty() ? std::nullopt : findings_->tree().find(wanted);
      if (entry && entry->type == source::EntryType::file && entry->size <= largest_named) {
        need(wanted, path, line, "names");
      }
    }
  }

  void read_import(const std::string& path, const Import& import) {
    const std::string module = replace_all(import.module, ".", "/");
    if (import.level > 0) {
      std::string directory = parent_path(path);
      for (int level = 1; level < import.level; ++level) {
        directory = parent_path(directory);
      }
      enter(directory, module, path, import);
      return;
    }
    for (const std::string& root : roots_) {
      enter(root, module, path, import);
    }
  }

  /// All that importing `module` and its names from `root` runs.
  void enter(const std::string& root,
             const std::string& module,
             const std::string& path,
             const Import& import) {
    std::string at = root;
    for (const std::string& part : split(module, '/')) {
      if (part.empty()) {
        continue;
      }
      at = join_path(at, part);
      if (!take(at, path, import)) {
        return;
      }
    }
    for (const std::string& one : import.names) {
      take(join_path(at, one), path, import);
    }
  }

  /// The module `at`; false when it cannot hold another.
  bool take(const std::string& at, const std::string& path, const Import& import) {
    if (const auto [known, is_new] = taken_.try_emplace(at); !is_new) {
      return known->second;
    }
    const auto& tree = findings_->tree();
    for (const char* end : {"/__init__.py", ".py"}) {
      if (const auto entry = tree.find(at + end); entry) {
        need(entry->path, path, import.line, "imports");
        visit(entry->path);
        return taken_[at] = end[0] == '/';
      }
    }
    if (const auto entry = tree.find(at); entry) {
      return taken_[at] = entry->type == source::EntryType::directory;
    }
    const std::string beginning = at + ".";
    for (const std::string& file : files_in(parent_path(at))) {
      if (file.starts_with(beginning) && (file.ends_with(".so") || file.ends_with(".pyd"))) {
        need(file, path, import.line, "imports");
      }
    }
    return false;
  }

  const std::vector<std::string>& files_in(const std::string& directory) {
    const auto [known, is_new] = listed_.try_emplace(directory);
    if (is_new) {
      for (const auto& entry : findings_->tree().list(directory)) {
        known->second.push_back(entry.path);
      }
    }
    return known->second;
  }

  Findings* findings_;
  source::Selection ignore_;
  std::vector<std::string> roots_;
  std::deque<std::string> waiting_;
  std::set<std::string> seen_;
  std::set<std::string, std::less<>> named_;
  std::map<std::string, bool> taken_;
  std::map<std::string, std::vector<std::string>> listed_;
};

}  // namespace

void keep_what_is_needed(Findings& findings, const Project& project) {
  if (project.ignore.asks_git() && !project.entry.file.empty()) {
    NeededFiles{findings, project}.follow(project.entry.file);
  }
}

void tell_empty_submodules(Findings& findings) {
  constexpr std::string_view file{".gitmodules"};
  const auto entry = findings.tree().find(file);
  if (!entry || entry->type != source::EntryType::file || entry->size > largest_code) {
    return;
  }
  for (const std::string& line : split(findings.tree().read(file), '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string::npos || trim(std::string_view{line}.substr(0, equals)) != "path") {
      continue;
    }
    const auto path = source::normalise(trim(std::string_view{line}.substr(equals + 1)));
    if (path && !path->empty() && findings.is_directory(*path) &&
        findings.tree().list(*path).empty() && !findings.is_ignored(*path)) {
      findings.warn(
          fmt::format("the submodule `{}` is empty here, and so in the image", printable(*path)),
          std::string{file}, {fmt::format("git submodule update --init {}", shell_quote(*path))});
    }
  }
}

}  // namespace autopack::project
