#include "pipeline/explanation.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>

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

}  // namespace

std::vector<LeftOut> find_left_out(const Scanned& scanned, const plan::Plan& plan) {
  std::map<std::pair<std::string, int>, LeftOut> rules;
  LeftOut not_copied;
  const auto& ignore = scanned.project.ignore;
  std::unordered_set<std::string_view> copied;
  copied.reserve(plan.code.size());
  for (const auto& entry : plan.code) {
    copied.insert(entry.path);
  }
  const auto is_copied = [&](const std::string& path) { return copied.contains(path); };
  source::walk(
      *scanned.tree, "",
      [&](const source::Entry& directory) {
        if (is_copied(directory.path)) {
          return true;
        }
        const auto rule = ignore.excludes(directory.path);
        return rule ? ignore.may_hold_exceptions(directory.path) : takes_part(plan, directory.path);
      },
      [&](const source::Entry& entry) {
        if (is_copied(entry.path)) {
          return;
        }
        if (const auto rule = ignore.excludes(entry.path)) {
          auto& left = rules[{rule->file + "\n" + rule->pattern, rule->line}];
          left.rule = rule->pattern;
          left.file = rule->file;
          left.line = rule->line;
          add(left, entry);
        } else if (!takes_part(plan, entry.path)) {
          add(not_copied, entry);
        }
      });
  std::vector<LeftOut> all;
  for (auto& [key, left] : rules) {
    all.push_back(std::move(left));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const LeftOut& a, const LeftOut& b) { return a.count > b.count; });
  if (not_copied.count > 0) {
    all.push_back(std::move(not_copied));
  }
  return all;
}

}  // namespace autopack::pipeline
