#include "project/needed.hpp"

#include "base/text.hpp"
#include "project/imports.hpp"
#include "project/python_tokens.hpp"
#include "source/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <set>

namespace autopack::project {

namespace {

constexpr std::size_t most_files{2000};
constexpr std::uint64_t largest_code{1'000'000};
constexpr std::uint64_t largest_named{10'000'000};
constexpr std::size_t longest_name{200};
constexpr std::string_view submodules_file{".gitmodules"};
constexpr std::size_t most_directories{50};
constexpr std::size_t most_looked_at{4000};  // entries of all directories that are named

/// Follows a program through its files, from its entry on.
class NeededFiles {
public:
  NeededFiles(Findings& findings, const Project& project)
      : findings_{&findings}, ignore_{project.ignore} {
    roots_ = {parent_path(project.entry.file), ""};
    if (project.package) {
      roots_.push_back(project.package->import_root);
    }
    roots_.insert(roots_.end(), project.python_path.begin(), project.python_path.end());
    for (const Started& started : project.started) {
      roots_.push_back(started.root);
    }
    sort_unique(roots_);
  }

  /// The entry, and what it starts.
  void follow(const Project& project) {
    visit(project.entry.file);
    for (const Started& started : project.started) {
      visit(started.file);
    }
    for (std::size_t looked = 0; !waiting_.empty() || !directories_.empty();) {
      for (; !waiting_.empty(); waiting_.pop_front()) {
        read(waiting_.front());
      }
      if (!directories_.empty() && looked++ < most_directories) {
        look_into(directories_.front());
      }
      if (!directories_.empty()) {
        directories_.pop_front();
      }
    }
    tell_too_large();
  }

  /// Whether the program imports or names the directory `path`, or something in it.
  bool names(const std::string& path) const {
    const auto is_in_it = [&](const std::string& text) {
      return is_below(source::normalise(text).value_or(""), path);
    };
    return taken_.contains(path) || words_.contains(base_name(path)) ||
           std::any_of(named_.begin(), named_.end(), is_in_it);
  }

private:
  struct Named {
    std::string path{};
    std::string from{};
    int line{0};
  };

  void visit(const std::string& path) {
    if (!path.empty() && seen_.size() < most_files && seen_.insert(path).second) {
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

  /// The words of a shell's script, or of a file of settings.
  void read_script(const std::string& path, std::string_view text) {
    int line = 1;
    std::string word;
    for (const char c : text) {
      if (std::string_view{" \t\n\"'=;:,()[]{}"}.find(c) == std::string_view::npos) {
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

  /// A text that may be a path, or one of its names; from the working directory, or from where it
  /// stands.
  void name(std::string_view text, const std::string& path, int line) {
    const bool may_be_one = !text.empty() && text.size() <= longest_name && text[0] != '/' &&
                            text.find_first_of(" \n\t<>{}*?%") == std::string_view::npos &&
                            text.find("://") == std::string_view::npos;
    if (!may_be_one) {
      return;
    }
    words_.try_emplace(base_name(text), Named{.from = path, .line = line});
    if (!named_.emplace(text).second) {
      return;
    }
    const bool is_bare = text.find_first_of("/.") == std::string_view::npos;
    for (const std::string& directory : {std::string{}, parent_path(path)}) {
      const std::string wanted = normal(text, directory);
      if (wanted.empty() || (is_bare && !holds(directory, wanted))) {
        continue;
      }
      if (const auto entry = findings_->tree().find(wanted)) {
        take_named(*entry, path, line);
      }
    }
  }

  void take_named(const source::Entry& entry, const std::string& path, int line) {
    if (entry.type == source::EntryType::directory) {
      if (looked_into_.insert(entry.path).second) {
        directories_.push_back(entry.path);
      }
    } else if (entry.type == source::EntryType::file) {
      need_file(entry, path, line);
      if (is_settings(entry.path)) {
        visit(entry.path);
      }
    }
  }

  void need_file(const source::Entry& entry, const std::string& path, int line) {
    if (entry.size <= largest_named) {
      need(entry.path, path, line, "names");
    } else if (ignore_.is_only_ignored_by_git(entry.path)) {
      too_large_.push_back({.path = entry.path, .from = path, .line = line});
    }
  }

  /// What the program may put together from names: `os.path.join("data", name, "train.bin")`.
  void look_into(const std::string& directory) {
    source::SelectionWalk selected{ignore_};
    source::walk(
        findings_->tree(), directory,
        [&](const source::Entry&) { return looked_ < most_looked_at; },
        [&](std::string_view, const std::vector<source::Entry>& entries) {
          looked_ += entries.size();
          return true;
        },
        [&](const source::Entry& entry) {
          if (entry.type != source::EntryType::file) {
            return;
          }
          const auto word = words_.find(base_name(entry.path));
          if (word != words_.end() && selected.excludes(entry)) {
            need_file(entry, word->second.from, word->second.line);
          } else if (is_settings(entry.path) && entry.size <= largest_code) {
            visit(entry.path);
          }
        });
  }

  void tell_too_large() {
    if (too_large_.empty()) {
      return;
    }
    const Named& first = too_large_.front();
    const auto entry = findings_->tree().find(first.path);
    std::string message = fmt::format("`{}` stays out, {} that git ignores and `{}` line {} names",
                                      printable(first.path), human_size(entry ? entry->size : 0),
                                      printable(first.from), first.line);
    if (too_large_.size() > 1) {
      message += fmt::format("; so do {} more", too_large_.size() - 1);
    }
    findings_->warn(std::move(message), {},
                    {fmt::format("`{}` takes it in", source::include_flag(first.path))});
  }

  static bool is_settings(std::string_view path) {
    constexpr std::array<std::string_view, 6> suffixes{".yaml", ".yml", ".json",
                                                       ".toml", ".cfg", ".ini"};
    return std::any_of(suffixes.begin(), suffixes.end(),
                       [&](auto suffix) { return path.ends_with(suffix); });
  }

  bool holds(const std::string& directory, const std::string& path) {
    const auto& paths = files_in(directory);
    return std::binary_search(paths.begin(), paths.end(), path);
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
  std::deque<std::string> directories_;  ///< to be looked into
  std::map<std::string, Named> words_;   ///< all that strings end with, and where
  std::vector<Named> too_large_;
  std::size_t looked_{0};
  std::set<std::string> looked_into_;
  std::set<std::string> seen_;
  std::set<std::string, std::less<>> named_;
  std::map<std::string, bool> taken_;
  std::map<std::string, std::vector<std::string>> listed_;
};

/// Submodules of the tree's root that were not fetched.
std::vector<std::string> empty_submodules(const Findings& findings) {
  const auto entry = findings.tree().find(submodules_file);
  if (!entry || entry->type != source::EntryType::file || entry->size > largest_code) {
    return {};
  }
  std::vector<std::string> paths;
  for (const std::string& line : split(findings.tree().read(submodules_file), '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string::npos || trim(std::string_view{line}.substr(0, equals)) != "path") {
      continue;
    }
    const auto path = source::normalise(trim(std::string_view{line}.substr(equals + 1)));
    if (path && !path->empty() && findings.is_directory(*path) &&
        findings.tree().list(*path).empty() && !findings.is_ignored(*path)) {
      paths.push_back(*path);
    }
  }
  return paths;
}

}  // namespace

void keep_what_is_needed(Findings& findings, const Project& project) {
  const auto submodules = empty_submodules(findings);
  if (submodules.empty() && !project.ignore.asks_git()) {
    return;
  }
  NeededFiles files{findings, project};
  files.follow(project);
  for (const std::string& path : submodules) {
    const auto is_in_it = [&](const std::string& input) { return is_below(input, path); };
    const auto& inputs = project.requirement_inputs;
    if (files.names(path) || std::any_of(inputs.begin(), inputs.end(), is_in_it)) {
      findings.warn(
          fmt::format("the submodule `{}` is empty here, and so in the image", printable(path)),
          std::string{submodules_file},
          {fmt::format("git submodule update --init {}", shell_quote(path))});
    }
  }
}

}  // namespace autopack::project
