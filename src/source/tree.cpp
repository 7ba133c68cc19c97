#include "source/tree.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "source/listing_ahead.hpp"
#include "source/walk.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace autopack::source {

namespace {

struct Listing {
  std::vector<Entry> entries{};
  std::size_t next{0};
};

std::vector<std::string> directories_of(const std::vector<Entry>& entries,
                                        const std::function<bool(const Entry&)>& enter) {
  std::vector<std::string> directories;
  for (const Entry& entry : entries) {
    if (entry.type == EntryType::directory && enter(entry)) {
      directories.push_back(entry.path);
    }
  }
  return directories;
}

/// Checks a known directory that lists as empty: it may be gone.
void check_still_there(const Tree& tree, std::string_view directory) {
  const auto entry = tree.find(directory);
  if (!entry || entry->type != EntryType::directory) {
    throw Error(ErrorKind::project, fmt::format("the directory `{}` went away while it was read",
                                                printable(directory)));
  }
}

}  // namespace

void walk(const Tree& tree,
          std::string_view path,
          const std::function<bool(const Entry& directory)>& enter,
          const std::function<void(Entry&& entry)>& visit) {
  const auto take_all = [](std::string_view, const std::vector<Entry>&) { return true; };
  walk(tree, path, enter, take_all, visit);
}

void walk(const Tree& tree,
          std::string_view path,
          const std::function<bool(const Entry& directory)>& enter,
          const std::function<bool(std::string_view directory, const std::vector<Entry>& entries)>&
              listed,
          const std::function<void(Entry&& entry)>& visit) {
  // An explicit stack, because a tree may be arbitrarily deep.
  std::vector<Listing> open;
  std::optional<ListingAhead> ahead;
  if (tree.lists_in_threads()) {
    ahead.emplace(tree);
  }
  const auto add = [&](std::string_view directory) {
    auto entries = ahead ? ahead->list(directory) : tree.list(directory);
    if (entries.empty() && !open.empty()) {
      check_still_there(tree, directory);
    }
    if (!listed(directory, entries)) {
      return;
    }
    if (ahead) {
      ahead->announce(directories_of(entries, enter));
    }
    open.push_back({.entries = std::move(entries)});
  };
  add(path);
  while (!open.empty()) {
    Listing& listing = open.back();
    if (listing.next == listing.entries.size()) {
      open.pop_back();
      continue;
    }
    Entry& entry = listing.entries[listing.next++];
    if (entry.type != EntryType::directory) {
      visit(std::move(entry));
      continue;
    }
    const bool is_entered = enter(entry);
    const std::string directory = entry.path;
    visit(std::move(entry));
    if (is_entered) {
      add(directory);
    }
  }
}

std::optional<std::string> normalise(std::string_view path) {
  if (path.starts_with('/')) {
    return std::nullopt;
  }
  std::string result;
  while (!path.empty()) {
    const auto end = path.find('/');
    const auto name = path.substr(0, end);
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
    if (name == "..") {
      if (result.empty()) {
        return std::nullopt;
      }
      const auto parent = result.rfind('/');
      result.resize(parent == std::string::npos ? 0 : parent);
    } else if (!name.empty() && name != ".") {
      result += (result.empty() ? "" : "/");
      result += name;
    }
  }
  return result;
}

}  // namespace autopack::source
