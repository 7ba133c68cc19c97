#include "lock/merge.hpp"

#include "project/findings.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace autopack::lock {

namespace {

bool same_source(const LockedPackage& a, const LockedPackage& b) {
  return a.obstacle == b.obstacle && a.source == b.source &&
         std::equal(a.files.begin(), a.files.end(), b.files.begin(), b.files.end(),
                    [](const LockedFile& one, const LockedFile& other) {
                      return one.name == other.name && one.url == other.url &&
                             one.path == other.path;
                    });
}

/// Compares the local parts of versions, too.
bool same_version(const LockedPackage& a, const LockedPackage& b) {
  return a.version.has_value() == b.version.has_value() && (!a.version || *a.version == *b.version);
}

}  // namespace

void sort_packages(LockedSet& set) {
  std::ranges::stable_sort(set.packages,
                           [](const auto& a, const auto& b) { return a.name < b.name; });
}

bool merge_pins(LockedPackage& first, const LockedPackage& again) {
  if (!same_version(first, again) || !same_source(first, again)) {
    return false;
  }
  first.extras.insert(first.extras.end(), again.extras.begin(), again.extras.end());
  project::sort_unique(first.extras);
  if (first.hashes.empty() || again.hashes.empty()) {
    first.hashes.insert(first.hashes.end(), again.hashes.begin(), again.hashes.end());
    return true;
  }
  std::set<std::string> allowed;
  for (const auto& hash : again.hashes) {
    allowed.insert(hash.str());
  }
  std::erase_if(first.hashes,
                [&](const python::Hash& hash) { return !allowed.contains(hash.str()); });
  return !first.hashes.empty();
}

}  // namespace autopack::lock
