#include "pipeline/explanation.hpp"
#include "plan/large_directories.hpp"
#include "source/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace autopack::pipeline {

namespace {

constexpr std::size_t most_paths{100};      // of one rule
constexpr std::size_t most_looked{20'000};  // excluded entries, for their sizes
constexpr std::size_t most_looked_once{4'000};
constexpr std::size_t most_looked_of_defaults{1'000};  // of built-in exclusions, whose size does
                                                       // not matter

bool is_before(const plan::ContextEntry& entry, std::string_view path) {
  return entry.path < path;
}

/// Walks directories in which something may be excluded.
class Search {
public:
  explicit Search(const packaging::Packaging& work)
      : plan_{work.plan()},
        tree_{*work.scanned().tree},
        ignore_{work.scanned().project.ignore},
        selected_{ignore_} {}

  void look(const source::Entry& directory) {
    const auto entries = tree_.list(directory.path);
    if (const auto rule = selected_.enter(directory.path, entries);
        rule && !takes_part(directory.path)) {
      leave(directory, *rule);
      return;
    }
    for (const auto& entry : entries) {
      const bool is_directory = entry.type == source::EntryType::directory;
      const auto rule = selected_.excludes(entry);
      if (rule &&
          !(is_directory && ignore_.may_hold_exceptions(entry.path) && takes_part(entry.path))) {
        leave(entry, *rule);
      } else if (const auto* large = large_directory_at(entry.path);
                 is_directory && large != nullptr) {
        leave_out(*large);
      } else if (is_directory) {
        look(entry);
      }
    }
  }

  std::vector<LeftOut> take() {
    std::vector<LeftOut> all;
    for (auto& [key, left] : rules_) {
      std::ranges::stable_sort(left.paths,
                               [](const auto& a, const auto& b) { return a.size > b.size; });
      left.paths.resize(std::min(left.paths.size(), most_paths));
      all.push_back(std::move(left));
    }
    std::ranges::stable_sort(all, [](const LeftOut& a, const LeftOut& b) {
      return std::tie(a.size, a.count) > std::tie(b.size, b.count);
    });
    return all;
  }

private:
  /// Returns true if something below `path` is included.
  bool takes_part(const std::string& path) const {
    const std::string below = path + "/";
    const auto at = std::lower_bound(plan_.code.begin(), plan_.code.end(), below, is_before);
    return at != plan_.code.end() && at->path.starts_with(below);
  }

  const plan::LargeDirectory* large_directory_at(const std::string& path) const {
    const auto at = std::ranges::find_if(
        plan_.large_directories, [&](const plan::LargeDirectory& one) { return one.path == path; });
    return at == plan_.large_directories.end() ? nullptr : &*at;
  }

  LeftOut& of(const source::Rule& rule) {
    auto& left = rules_[{rule.file + "\n" + rule.pattern, rule.line}];
    left.rule = rule.pattern;
    left.file = rule.file;
    left.line = rule.line > 0 ? std::optional{rule.line} : std::nullopt;
    return left;
  }

  static void add(LeftOut& left, LeftOut::Path path) {
    ++left.count;
    left.size += path.size;
    left.is_least = left.is_least || path.is_least;
    left.paths.push_back(std::move(path));
    if (left.paths.size() >= 2 * most_paths) {
      std::nth_element(left.paths.begin(), left.paths.begin() + most_paths, left.paths.end(),
                       [](const auto& a, const auto& b) { return a.size > b.size; });
      left.paths.resize(most_paths);
    }
  }

  void leave(const source::Entry& entry, const source::Rule& rule) {
    LeftOut::Path path{.path = entry.path, .size = entry.size};
    if (entry.type == source::EntryType::directory) {
      path.path += '/';
      measure(entry.path, path,
              rule.file == source::defaults_name ? most_looked_of_defaults : most_looked_once);
    }
    add(of(rule), std::move(path));
  }

  void leave_out(const plan::LargeDirectory& large) {
    add(of({.pattern = fmt::format("no code, named nowhere, over {} MB", plan::much / 1'000'000),
            .file = std::string{source::defaults_name}}),
        {.path = large.path + "/", .size = large.size});
  }

  void measure(const std::string& directory, LeftOut::Path& path, std::size_t most) {
    std::size_t looked = 0;
    const auto may_go_on = [&] { return looked_ < most_looked && looked < most; };
    const auto enter = [&](const source::Entry&) {
      path.is_least = path.is_least || !may_go_on();
      return may_go_on();
    };
    // Another tree would be cached; excluded paths are read once.
    source::walk(
        tree_, directory, enter,
        [&](std::string_view, const std::vector<source::Entry>& entries) {
          looked += entries.size();
          looked_ += entries.size();
          return true;
        },
        [&](const source::Entry& entry) { path.size += entry.size; });
  }

  const plan::Plan& plan_;
  const source::Tree& tree_;
  const source::Selection& ignore_;
  source::SelectionWalk selected_;
  std::map<std::pair<std::string, int>, LeftOut> rules_{};
  std::size_t looked_{0};
};

}  // namespace

std::vector<LeftOut> find_left_out(const packaging::Packaging& work) {
  Search search{work};
  search.look({.type = source::EntryType::directory});
  return search.take();
}

}  // namespace autopack::pipeline
