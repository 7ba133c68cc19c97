#include "plan/gather.hpp"

#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "plan/large_directories.hpp"
#include "source/walk.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace autopack::plan {

namespace {

std::string origin_of(const source::Rule& rule) {
  return rule.line == 0 ? rule.file : fmt::format("{}:{}", rule.file, rule.line);
}

constexpr auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };

}  // namespace

void ContentReader::fill(ContextEntry& entry,
                         const source::Entry& found,
                         const PlacedTree& place) const {
  if (entry.type == source::EntryType::symlink) {
    entry.content = sha256(entry.link_target);
  }
  if (entry.type != source::EntryType::file) {
    return;
  }
  if (known != nullptr) {
    const auto same = std::lower_bound(known->begin(), known->end(), entry, by_path);
    if (same != known->end() && same->path == entry.path && same->tree == entry.tree) {
      entry.content = same->content;
      entry.cleared = same->cleared;
      return;
    }
  }
  if (hashes != nullptr) {
    const auto facts = hashes->of(*place.tree, place.path_of(entry), found);
    entry.content = facts.content;
    entry.cleared = facts.cleared;
    return;
  }
  Sha256 hash;
  place.stream(entry, [&](std::string_view bytes) { hash.update(bytes); });
  entry.content = hash.finish();
}

Gatherer::Gatherer(PlacedTree place,
                   std::uint16_t index,
                   const source::Selection& ignore,
                   const ContentReader* contents)
    : place_{std::move(place)}, index_{index}, ignore_{ignore}, contents_{contents} {}

void Gatherer::add(const std::string& path) {
  if (path.empty()) {
    add_directory(path);
    return;
  }
  auto entry = place_.tree->find(path);
  if (!entry) {
    problems_.push_back({.message = fmt::format("`{}` does not exist in {}", printable(path),
                                                place_.tree->describe())});
    return;
  }
  const bool is_directory = entry->type == source::EntryType::directory;
  const auto rule = ignore_.excludes(path);
  if (rule && !(is_directory && ignore_.may_hold_exceptions(path))) {
    refuse_ignored(path, *rule);
    return;
  }
  keep(std::move(*entry));
  if (is_directory) {
    add_directory(path);
  }
}

void Gatherer::add_directory(const std::string& path) {
  const std::size_t before = entries_.size();
  if (contents_ != nullptr && contents_->hashes != nullptr) {
    // Mostly the files of the last time, and their directories.
    const std::size_t files = contents_->hashes->count();
    entries_.reserve(files + files / 4);
    states_.reserve(files + files / 4);
  }
  std::optional<source::Rule> last_rule;
  bool entered_excluded = false;
  source::SelectionWalk selected{ignore_};
  const auto may_enter = [&](const std::string& directory) {
    const bool enter = ignore_.may_hold_exceptions(directory);
    entered_excluded = entered_excluded || enter;
    return enter;
  };
  source::walk(
      *place_.tree, path,
      [&](const source::Entry& directory) {
        return !selected.excludes(directory) || may_enter(directory.path);
      },
      [&](std::string_view directory, const std::vector<source::Entry>& listed) {
        auto rule = selected.enter(directory, listed);
        if (!rule) {
          return true;
        }
        last_rule = std::move(rule);
        if (!entries_.empty() && place_.path_of(entries_.back()) == directory) {
          entries_.pop_back();
          states_.resize(std::min(states_.size(), entries_.size()));
        }
        return may_enter(std::string{directory});
      },
      [&](source::Entry&& entry) {
        if (auto rule = selected.excludes(entry)) {
          last_rule = std::move(rule);
        } else {
          keep(std::move(entry));
        }
      });
  if (entries_.size() == before && last_rule && !may_be_empty_) {
    refuse_ignored(path.empty() ? "." : path, *last_rule);
  }
  if (path.empty() && leaves_large_directories_) {
    entered_excluded = drop_large_directories(before) || entered_excluded;
  }
  if (entered_excluded) {
    const std::size_t end = entries_.size();
    for (std::size_t i = before; i < end; ++i) {
      add_parents(std::string{place_.path_of(entries_[i])});
    }
  }
}

/// Returns true if requested files are among the dropped ones, and so lost their directories.
bool Gatherer::drop_large_directories(std::size_t first) {
  auto found =
      find_large_directories({entries_.data() + first, entries_.size() - first}, place_, ignore_);
  if (found.directories.empty()) {
    return false;
  }
  std::size_t kept = first;
  for (std::size_t i = first; i < entries_.size(); ++i) {
    if (found.stays_out[i - first]) {
      continue;
    }
    if (kept != i) {
      entries_[kept] = std::move(entries_[i]);
      if (!states_.empty()) {
        states_[kept] = std::move(states_[i]);
      }
    }
    ++kept;
  }
  entries_.resize(kept);
  states_.resize(std::min(states_.size(), kept));
  large_directories_ = std::move(found.directories);
  return found.keeps_some;
}

void Gatherer::add_parents(const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (auto parent = place_.tree->find(path.substr(0, slash))) {
      keep(std::move(*parent));
    }
  }
}

void Gatherer::keep(source::Entry&& entry) {
  std::string fault;
  std::optional<std::string_view> remedy;
  if (entry.type == source::EntryType::other) {
    const auto& [what, mends] = *entry.obstacle;
    remedy = mends;
    fault = mends
                ? fmt::format("`{}` is {}", printable(entry.path), what)
                : fmt::format("`{}` is a {}, which no image can hold", printable(entry.path), what);
  } else if (base_name(entry.path).starts_with(".wh.")) {
    fault = fmt::format("`{}` has a name that marks a deletion in an image layer",
                        printable(entry.path));
  } else if (index_ == 0 && entry.path.starts_with(extras_directory)) {
    fault = fmt::format("autopack puts files from outside the working directory into `{}`",
                        printable(entry.path));
  }
  if (fault.empty()) {
    entries_.push_back(
        {.path = place_.prefix.empty() ? std::move(entry.path) : place_.prefix + entry.path,
         .link_target = std::move(entry.link_target),
         .size = entry.size,
         .type = entry.type,
         .executable = entry.executable,
         .tree = index_});
    if (contents_ != nullptr) {
      states_.push_back({.inode = entry.inode,
                         .ctime_ns = entry.ctime_ns,
                         .mtime_ns = entry.mtime_ns,
                         .identity = std::move(entry.identity)});
    }
  } else if (refused_.insert(entry.path).second) {
    problems_.push_back(
        {.message = std::move(fault),
         .hints = {remedy ? std::string{*remedy}
                          : "remove it, or " + source::leave_out_command(entry.path)}});
  }
}

void Gatherer::refuse_ignored(const std::string& path, const source::Rule& rule) {
  if (refused_.insert(path).second) {
    problems_.push_back({.message = fmt::format("`{}` is needed in the image, but the rule `{}` "
                                                "leaves it out",
                                                printable(path), printable(rule.pattern)),
                         .origin = origin_of(rule),
                         .hints = {source::bring_back_command(path, false, rule)}});
  }
}

std::vector<ContextEntry> Gatherer::take() {
  if (contents_ != nullptr && problems_.empty()) {
    read_contents();
  }
  states_.clear();
  std::vector<ContextEntry> entries = std::exchange(entries_, {});
  // A walk's order is almost that of the paths, and often exactly.
  if (!std::ranges::is_sorted(entries, by_path)) {
    std::ranges::sort(entries, by_path);
  }
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [](const auto& a, const auto& b) { return a.path == b.path; }),
                entries.end());
  return entries;
}

void Gatherer::read_contents() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].type == source::EntryType::directory) {
      continue;
    }
    State& state = states_[i];
    read_content(entries_[i], {.size = entries_[i].size,
                               .inode = state.inode,
                               .ctime_ns = state.ctime_ns,
                               .mtime_ns = state.mtime_ns,
                               .identity = std::move(state.identity)});
  }
}

void Gatherer::read_content(ContextEntry& entry, const source::Entry& found) {
  try {
    contents_->fill(entry, found, place_);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::project) {
      throw;
    }
    append(problems_, error.as_problems());
  }
}

}  // namespace autopack::plan
