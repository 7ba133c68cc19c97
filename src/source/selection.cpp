#include "source/selection.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "source/docker_rules.hpp"
#include "source/selection_state.hpp"

#include <fmt/format.h>

#include <utility>

// Rules come from up to four places: the user's flags, `.dockerignore` or `.gcloudignore`, git,
// and autopack's own list. An order among them decides, and the first rule that matches is
// reported, so that a user can see which line leaves a file out. A directory is asked before its
// files: nothing below an excluded directory is read unless a rule could include it again.

namespace autopack::source {

namespace {

constexpr std::string_view uploaded_file{".gcloudignore"};
constexpr std::string_view include_line{"#!include:"};

bool is_file(const Tree& tree, std::string_view path) {
  const auto entry = tree.find(path);
  return entry && entry->type == EntryType::file;
}

/// Returns the rules of `.gcloudignore` and of the files that it includes.
GitIgnoreFile read_uploaded(const Tree& tree) {
  const std::string name{uploaded_file};
  GitIgnoreFile rules;
  int number = 0;
  for (const std::string& line : split(tree.read(name), '\n')) {
    ++number;
    if (line.starts_with(include_line)) {
      const std::string included{trim(std::string_view{line}.substr(include_line.size()))};
      const auto path = normalise(included);
      if (!path || !is_file(tree, *path)) {
        throw Error(ErrorKind::project,
                    fmt::format("`{}` line {} includes `{}`, which does not exist", name, number,
                                printable(included)));
      }
      rules.add(tree.read(*path), *path);
      continue;
    }
    const auto shown = std::string_view{line}.substr(0, line.find_last_not_of(" \r\t") + 1);
    rules.add_pattern(line, {.pattern = std::string{shown}, .file = name, .line = number});
  }
  return rules;
}

/// A pattern without wildcards is a path; one with wildcards and without a slash matches
/// everywhere. A pattern for everything in a directory means the directory.
std::string as_typed(std::string_view pattern) {
  while (pattern.starts_with("./")) {
    pattern.remove_prefix(2);
  }
  while (pattern.ends_with("/**") || pattern.ends_with("/*")) {
    pattern.remove_suffix(pattern.ends_with("/**") ? 3 : 2);
  }
  const bool floats = pattern.find('/') == std::string_view::npos &&
                      pattern.find_first_of("*?[") != std::string_view::npos;
  return floats || pattern.starts_with('/') ? std::string{pattern} : fmt::format("/{}", pattern);
}

Rule typed_rule(std::string_view flag, std::string_view value) {
  return {.pattern = fmt::format("{}={}", flag, value), .file = std::string{flag}};
}

void add_typed(GitIgnoreFile& file, const std::vector<std::string>& patterns, const char* flag) {
  for (const std::string& pattern : patterns) {
    file.add_pattern(as_typed(pattern), typed_rule(flag, pattern));
  }
}

}  // namespace

Selection::Selection() : state_{std::make_shared<State>()} {}

Selection::Selection(IgnoreRules rules) : Selection() {
  state_->own = std::move(rules);
}

Selection::Selection(const Tree& tree,
                     const TypedRules& typed,
                     std::shared_ptr<const GitWorkTree> git)
    : Selection() {
  state_->tree = &tree;
  state_->own = load_ignore_rules(tree);
  std::vector<std::string> include;
  for (const std::string& pattern : typed.include) {
    if (const auto bare = as_typed(pattern);
        bare == "*" || bare == "**" || bare == "/." || bare == "/") {
      state_->include_all = typed_rule("--include", pattern);
    } else {
      include.push_back(pattern);
    }
  }
  add_typed(state_->include, include, "--include");
  add_typed(state_->exclude, typed.exclude, "--exclude");
  for (const std::string& path : typed.named) {
    state_->include.add_pattern(literal_pattern(path), typed_rule("--extra-dirs", path));
  }
  if (is_file(tree, ".dockerignore")) {
    return;
  }
  if (is_file(tree, uploaded_file)) {
    state_->uploaded = read_uploaded(tree);
    return;
  }
  state_->git = std::move(git);
}

std::optional<Rule> Selection::excludes(std::string_view path) const {
  const std::scoped_lock lock{state_->mutex};
  return state_->judge(path, state_->is_directory(path), true);
}

bool Selection::may_hold_exceptions(std::string_view path) const {
  const std::scoped_lock lock{state_->mutex};
  return state_->may_hold_exceptions(path);
}

bool Selection::is_only_ignored_by_git(std::string_view path) const {
  return is_only_ignored_by_git(path, state_->is_directory(path));
}

bool Selection::is_only_ignored_by_git(std::string_view path, bool is_directory) const {
  const std::scoped_lock lock{state_->mutex};
  const auto rule = state_->git ? state_->judge(path, is_directory, true) : std::nullopt;
  return rule && !state_->own_walk.excludes(path) &&
         state_->is_ignored_by_git(path, is_directory) && rule->file != "--exclude" &&
         rule->file != defaults_name;
}

bool Selection::asks_git() const {
  return state_->git != nullptr;
}

void Selection::keep(const std::string& path, const std::string& why) {
  const std::scoped_lock lock{state_->mutex};
  state_->kept.emplace(path, why);
  state_->kept_paths.insert(path);
}

std::map<std::string, std::string> Selection::kept() const {
  const std::scoped_lock lock{state_->mutex};
  return state_->kept;
}

bool Selection::was_asked_for(std::string_view path) const {
  State& state = *state_;
  if (state.include.empty() && !state.include_all) {
    return false;
  }
  const std::scoped_lock lock{state_->mutex};
  const auto slash = path.rfind('/');
  const auto& above = state.directory(path.substr(0, slash == std::string_view::npos ? 0 : slash));
  return state.typed_of(path, state.is_directory(path), above.typed).match.decision ==
         GitIgnoreFile::Decision::in;
}

std::string Selection::text() const {
  const State& state = *state_;
  std::string text;
  const auto add = [&](std::string_view title, const std::string& lines) {
    text += lines.empty() ? "" : fmt::format("# {}\n{}\n", title, lines);
  };
  add(uploaded_file, docker_rules(state.uploaded, ""));
  text += state.own.text();
  std::string typed;
  for (const std::string& line : split(docker_rules(state.include, ""), '\n')) {
    typed += line.empty() ? "" : "!" + line + "\n";
  }
  typed += docker_rules(state.exclude, "");
  return typed.empty() ? text : fmt::format("{}\n# --include, --exclude\n{}", text, typed);
}

SelectionWalk::SelectionWalk(const Selection& selection) : state_{selection.state_} {}

SelectionWalk::~SelectionWalk() = default;

std::optional<Rule> SelectionWalk::excludes(const Entry& entry) {
  const std::scoped_lock lock{state_->mutex};
  return state_->judge(entry.path, entry.type == EntryType::directory, false);
}

std::optional<Rule> SelectionWalk::enter(std::string_view directory,
                                         const std::vector<Entry>& entries) {
  const std::scoped_lock lock{state_->mutex};
  const auto& known = state_->directory(directory, &entries);
  return directory.empty() || known.environment != directory ? std::nullopt
                                                             : state_->judge(directory, true, true);
}

}  // namespace autopack::source
