#include "lock/locked_set.hpp"

#include "base/text.hpp"
#include "project/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::lock {

namespace {

/// Returns the hashes of the files, or the lock's hashes for all files; sorted and unique.
std::vector<std::string> hashes_of(const LockedPackage& package) {
  std::vector<std::string> hashes;
  const auto add = [&](const std::vector<python::Hash>& more) {
    std::ranges::transform(more, std::back_inserter(hashes),
                           [](const auto& hash) { return hash.str(); });
  };
  add(package.hashes);
  for (const auto& file : package.files) {
    add(file.hashes);
  }
  project::sort_unique(hashes);
  return hashes;
}

/// Returns why pip cannot install `package` by a hash, or nothing if it can.
std::optional<std::string> obstacle_of(const LockedPackage& package) {
  const auto in_tree =
      std::ranges::find_if(package.files, [](const auto& file) { return file.path.has_value(); });
  if (in_tree != package.files.end()) {
    return fmt::format("`{}` is a file of the project", printable(*in_tree->path));
  }
  if (package.source) {
    return package.source->directory ? "it is a directory of sources"
                                     : "it comes from version control";
  }
  if (!package.version || hashes_of(package).empty()) {
    return package.obstacle.value_or("the lock has no hash for it");
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> indexes_of(const LockedSet& set) {
  std::vector<std::string> indexes;
  for (const auto& package : set.packages) {
    if (package.index) {
      indexes.push_back(*package.index);
    }
  }
  project::sort_unique(indexes);
  return indexes;
}

std::string requirements_text(const LockedSet& set) {
  std::string text;
  Problems problems;
  for (const auto& index : indexes_of(set)) {
    // A blank or a line feed would start another option or line.
    const bool is_word =
        std::ranges::all_of(index, [](char letter) { return letter > ' ' && letter < '\x7f'; });
    if (!is_word) {
      problems.push_back(
          {.message = fmt::format("`{}` is not the URL of an index", printable(index)),
           .origin = set.origin});
    }
    text += fmt::format("--extra-index-url {}\n", index);
  }
  for (const auto& package : set.packages) {
    if (const auto obstacle = obstacle_of(package)) {
      problems.push_back(
          {.message = fmt::format("pip cannot install `{}` by a hash: {}", package.name, *obstacle),
           .origin = package.place});
      continue;
    }
    text += fmt::format("{}=={}", package.name, package.version->str());
    for (const auto& hash : hashes_of(package)) {
      text += " --hash=" + hash;
    }
    text += '\n';
  }
  throw_if_errors(problems, ErrorKind::project);
  return text;
}

}  // namespace autopack::lock
