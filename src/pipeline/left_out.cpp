#include "pipeline/explanation.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

namespace autopack::pipeline {

namespace {

constexpr std::size_t most_paths{20};

void add(LeftOut& left, const source::Entry& entry) {
  if (left.count++ < most_paths) {
    const bool is_directory = entry.type == source::EntryType::directory;
    left.paths.push_back(entry.path + (is_directory ? "/" : ""));
  }
}

/// True when `path` itself or something below it is copied or installed from.
bool takes_part(const plan::Plan& plan, const std::string& path) {
  const auto holds = [&](const std::vector<plan::ContextEntry>& entries) {
    const auto at = std::lower_bound(
        entries.begin(), entries.end(), path,
        [](const plan::ContextEntry& a, const std::string& b) { return a.path < b; });
    return at != entries.end() && (at->path == path || at->path.starts_with(path + "/"));
  };
  if (holds(plan.code) || holds(plan.dependencies.inputs)) {
    return true;
  }
  // Names such as `a-b` stand between `a` and `a/x`.
  const auto below = [&](const std::vector<plan::ContextEntry>& entries) {
    const std::string prefix = path + "/";
    const auto at = std::lower_bound(
        entries.begin(), entries.end(), prefix,
        [](const plan::ContextEntry& a, const std::string& b) { return a.path < b; });
    return at != entries.end() && at->path.starts_with(prefix);
  };
  return below(plan.code) || below(plan.dependencies.inputs);
}

/// How many of each directory's own entries are copied.
std::unordered_map<std::string_view, std::size_t> copied_children(const plan::Plan& plan) {
  std::unordered_map<std::string_view, std::size_t> counts;
  for (const auto& entry : plan.code) {
    const auto slash = entry.path.rfind('/');
    ++counts[std::string_view{entry.path}.substr(0, slash == std::string::npos ? 0 : slash)];
  }
  return counts;
}

/// Walks where something may be left out.
class Search {
public:
  Search(const Scanned& scanned, const plan::Plan& plan)
      : plan_{plan},
        tree_{*scanned.tree},
        ignore_{scanned.project.ignore},
        ignored_{ignore_},
        copied_{copied_children(plan)} {}

  void look(const std::string& directory) {
    const auto entries = tree_.list(directory);
    const auto copied = copied_.find(directory);
    const bool all_copied = copied != copied_.end() && copied->second == entries.size();
    for (const auto& entry : entries) {
      if ((all_copied || is_copied(entry.path) || leave(entry)) &&
          entry.type == source::EntryType::directory) {
        look(entry.path);
      }
    }
  }

  std::map<std::pair<std::string, int>, LeftOut> rules{};
  LeftOut not_copied{};

private:
  bool is_copied(const std::string& path) const {
    const auto at = std::lower_bound(
        plan_.code.begin(), plan_.code.end(), path,
        [](const plan::ContextEntry& a, const std::string& b) { return a.path < b; });
    return at != plan_.code.end() && at->path == path;
  }

  /// Notes what is not copied; true when there may be more to note below it.
  bool leave(const source::Entry& entry) {
    if (const auto rule = ignored_.excludes(entry.path)) {
      auto& left = rules[{rule->file + "\n" + rule->pattern, rule->line}];
      left.rule = rule->pattern;
      left.file = rule->file;
      left.line = rule->line;
      add(left, entry);
      return ignore_.may_hold_exceptions(entry.path);
    }
    if (takes_part(plan_, entry.path)) {
      return true;
    }
    add(not_copied, entry);
    return false;
  }

  const plan::Plan& plan_;
  const source::Tree& tree_;
  const source::IgnoreRules& ignore_;
  source::IgnoreWalk ignored_;
  std::unordered_map<std::string_view, std::size_t> copied_;
};

}  // namespace

std::vector<LeftOut> find_left_out(const Scanned& scanned, const plan::Plan& plan) {
  Search search{scanned, plan};
  search.look("");
  std::vector<LeftOut> all;
  all.reserve(search.rules.size() + 1);
  for (auto& [key, left] : search.rules) {
    all.push_back(std::move(left));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const LeftOut& a, const LeftOut& b) { return a.count > b.count; });
  if (search.not_copied.count > 0) {
    all.push_back(std::move(search.not_copied));
  }
  return all;
}

}  // namespace autopack::pipeline
