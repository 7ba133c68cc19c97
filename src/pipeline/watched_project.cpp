#include "pipeline/watched_project.hpp"

#include "executor/executor_image.hpp"
#include "plan/changes.hpp"

#include <vector>

namespace autopack::pipeline {

namespace {

namespace fs = std::filesystem;

/// Returns the directory on the disk of `tree` number `index` of the plan.
fs::path root_of(const packaging::Packaging& work, std::size_t index) {
  return index == 0 ? work.request().project.directory
                    : fs::path{work.plan().trees[index].tree->describe()};
}

void add(std::set<fs::path>& directories,
         const packaging::Packaging& work,
         const std::vector<plan::ContextEntry>& entries) {
  for (const auto& entry : entries) {
    const auto& tree = work.plan().trees[entry.tree];
    const auto root = root_of(work, entry.tree);
    if (entry.path.size() < tree.prefix.size()) {
      directories.insert(root);  // it is an extra's own directory
      continue;
    }
    const auto path = root / tree.path_of(entry);
    directories.insert(entry.type == source::EntryType::directory ? path : path.parent_path());
  }
}

}  // namespace

std::string WatchedProject::Look::difference(const Look& before) const {
  if (!record || !before.record) {
    return record ? "the project can be packaged again" : "the project cannot be packaged";
  }
  const auto changes = plan::changes(*before.record, *record);
  auto all = changes.dependencies;
  all.insert(all.end(), changes.code.begin(), changes.code.end());
  return all.empty() ? "the image's input changed" : plan::summary(all);
}

WatchedProject::Look WatchedProject::look() const {
  Look seen;
  try {
    const auto wanted = want_();
    seen.directories.insert(wanted->request.project.directory);
    const auto work =
        plan_packaging(services_, wanted, executor::facts_offline(services_, wanted->request));
    seen.key = work.plan().keys.value().image;
    seen.record = plan::record_of(work.plan(), work.scanned().project);
    add(seen.directories, work, work.plan().code);
    add(seen.directories, work, work.plan().dependencies.inputs);
  } catch (const Error& error) {
    seen.key = error.what();
  }
  return seen;
}

}  // namespace autopack::pipeline
