#include "plan/gather.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace autopack::plan {

namespace {

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string origin_of(const source::Rule& rule) {
  return rule.line == 0 ? rule.file : fmt::format("{}:{}", rule.file, rule.line);
}

bool by_path(const ContextEntry& a, const ContextEntry& b) {
  return a.path < b.path;
}

}  // namespace

Gatherer::Gatherer(const source::Tree& tree,
                   std::size_t index,
                   const source::IgnoreRules& ignore,
                   std::string prefix)
    : tree_{tree}, index_{index}, ignore_{ignore}, prefix_{std::move(prefix)} {}

void Gatherer::add(const std::string& path) {
  if (path.empty()) {
    add_directory(path);
    return;
  }
  const auto entry = tree_.find(path);
  if (!entry) {
    problems_.push_back(
        {.message = fmt::format("`{}` does not exist in {}", printable(path), tree_.describe())});
    return;
  }
  const bool is_directory = entry->type == source::EntryType::directory;
  const auto rule = ignore_.excludes(path);
  if (rule && !(is_directory && ignore_.may_hold_exceptions(path))) {
    refuse_ignored(path, *rule);
    return;
  }
  if (is_directory) {
    keep(*entry);
    add_directory(path);
  } else {
    keep(*entry);
  }
}

void Gatherer::add_directory(const std::string& path) {
  const std::size_t before = entries_.size();
  std::optional<source::Rule> last_rule;
  bool entered_excluded = false;
  source::IgnoreWalk ignored{ignore_};
  source::walk(
      tree_, path,
      [&](const source::Entry& directory) {
        if (!ignored.excludes(directory.path)) {
          return true;
        }
        const bool enter = ignore_.may_hold_exceptions(directory.path);
        entered_excluded = entered_excluded || enter;
        return enter;
      },
      [&](const source::Entry& entry) {
        if (auto rule = ignored.excludes(entry.path)) {
          last_rule = std::move(rule);
        } else {
          keep(entry);
        }
      });
  if (entries_.size() == before && last_rule) {
    refuse_ignored(path.empty() ? "." : path, *last_rule);
  }
  if (entered_excluded) {
    const std::size_t end = entries_.size();
    for (std::size_t i = before; i < end; ++i) {
      add_parents(std::string{entries_[i].path_in_tree()});
    }
  }
}

void Gatherer::add_parents(const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (const auto parent = tree_.find(path.substr(0, slash))) {
      keep(*parent);
    }
  }
}

void Gatherer::keep(const source::Entry& entry) {
  std::string fault;
  if (entry.type == source::EntryType::other) {
    fault = entry.remedy.empty() ? fmt::format("`{}` is a {}, which no image can hold",
                                               printable(entry.path), entry.other)
                                 : fmt::format("`{}` is {}", printable(entry.path), entry.other);
  } else if (base_name(entry.path).starts_with(".wh.")) {
    fault = fmt::format("`{}` has a name that marks a deletion in an image layer",
                        printable(entry.path));
  } else if (index_ == 0 && entry.path.starts_with(extras_directory)) {
    fault = fmt::format("`{}` is where autopack puts what is outside the working directory",
                        printable(entry.path));
  }
  if (fault.empty()) {
    auto& kept = entries_.emplace_back();
    kept = {.path = prefix_ + entry.path, .entry = entry, .tree = index_};
    if (prefix_.empty()) {
      kept.entry.path = {};  // told once: a tree may have very many
    }
  } else if (refused_.insert(entry.path).second) {
    problems_.push_back({.message = std::move(fault),
                         .hints = {entry.remedy.empty() ? "remove it, or add it to `.dockerignore`"
                                                        : std::string{entry.remedy}}});
  }
}

void Gatherer::refuse_ignored(const std::string& path, const source::Rule& rule) {
  if (refused_.insert(path).second) {
    problems_.push_back({.message = fmt::format("`{}` is needed in the image, but the rule `{}` "
                                                "leaves it out",
                                                printable(path), printable(rule.pattern)),
                         .origin = origin_of(rule),
                         .hints = {fmt::format("bring it back with the line `!{}` in "
                                               "`.dockerignore`",
                                               printable(path))}});
  }
}

std::vector<ContextEntry> Gatherer::take() {
  std::vector<ContextEntry> entries = std::exchange(entries_, {});
  // A walk's order is nearly that of the paths, and often just that.
  if (!std::is_sorted(entries.begin(), entries.end(), by_path)) {
    std::sort(entries.begin(), entries.end(), by_path);
  }
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [](const auto& a, const auto& b) { return a.path == b.path; }),
                entries.end());
  return entries;
}

void fill_contents(std::vector<ContextEntry>& entries,
                   const std::vector<ContextEntry>& known,
                   const std::vector<std::shared_ptr<const source::Tree>>& trees,
                   state::FileHashes* hashes) {
  Sha256 hash;
  for (ContextEntry& entry : entries) {
    if (entry.entry.type == source::EntryType::symlink) {
      entry.content = sha256(entry.entry.link_target);
      continue;
    }
    if (entry.entry.type != source::EntryType::file) {
      continue;
    }
    const auto same = std::lower_bound(known.begin(), known.end(), entry, by_path);
    if (same != known.end() && same->path == entry.path && same->tree == entry.tree) {
      entry.content = same->content;
      entry.cleared = same->cleared;
      continue;
    }
    const source::Tree& tree = *trees[entry.tree];
    if (hashes != nullptr) {
      const auto facts = hashes->of(tree, entry.path_in_tree(), entry.entry);
      entry.content = facts.content;
      entry.cleared = facts.cleared;
      continue;
    }
    tree.stream(entry.path_in_tree(), [&](std::string_view bytes) { hash.update(bytes); });
    entry.content = hash.finish();
  }
}

}  // namespace autopack::plan
