#include "base/tree_path.hpp"
#include "plan/advice.hpp"
#include "project/findings.hpp"

#include <algorithm>

namespace autopack::plan {

bool comes_before(const ContextEntry& entry, const std::string& path) {
  return entry.path < path;
}

const ContextEntry* entry_in_image(const Plan& plan, const std::string& path) {
  for (auto copy = plan.copies.rbegin(); copy != plan.copies.rend(); ++copy) {
    std::string rest = path;
    if (!copy->destination.empty()) {
      if (path != copy->destination && !path.starts_with(copy->destination + "/")) {
        continue;
      }
      rest = path == copy->destination ? "" : path.substr(copy->destination.size() + 1);
    }
    const std::string wanted = rest.empty() ? copy->source : join_path(copy->source, rest);
    const auto found = std::lower_bound(plan.code.begin(), plan.code.end(), wanted, comes_before);
    if (found != plan.code.end() && found->path == wanted) {
      return &*found;
    }
  }
  return nullptr;
}

const ContextEntry* entry_behind_links(const Plan& plan, std::string path) {
  constexpr int most_links{40};
  if (const auto* entry = entry_in_image(plan, path);
      entry != nullptr && entry->type != source::EntryType::symlink) {
    return entry;
  }
  int links = 0;
  for (std::size_t end = 0; end != std::string::npos && links < most_links;) {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    const auto* entry = entry_in_image(plan, part);
    if (entry != nullptr && entry->type == source::EntryType::symlink) {
      const auto target = source::normalise(join_path(parent_path(part), entry->link_target));
      if (!target || entry->link_target.starts_with('/')) {
        return nullptr;
      }
      path = *target + (end == std::string::npos ? "" : path.substr(end));
      end = 0;
      ++links;
    }
  }
  return links == most_links ? nullptr : entry_in_image(plan, path);
}

bool holds_python(const Plan& plan, const std::string& directory) {
  constexpr std::ptrdiff_t most_looked_at{1000};
  const std::string prefix = directory + "/";
  auto entry = std::lower_bound(plan.code.begin(), plan.code.end(), prefix, comes_before);
  const auto end = entry + std::min(most_looked_at, plan.code.end() - entry);
  for (; entry != end && entry->path.starts_with(prefix); ++entry) {
    if (entry->type != source::EntryType::directory &&
        (entry->path.ends_with(".py") || entry->path.ends_with(".so") ||
         entry->path.ends_with(".pyx"))) {
      return true;
    }
  }
  return false;
}

}  // namespace autopack::plan
