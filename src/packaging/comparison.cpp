#include "packaging/comparison.hpp"

#include "packaging/packaging.hpp"

#include <fmt/format.h>

#include <vector>

namespace autopack::packaging {

namespace {

using Texts = std::vector<std::string>;

Outcome reuse_because(const Texts& changes) {
  return {.reused = true, .reason = changes.empty() ? "nothing changed" : "it was built before"};
}

Outcome rebuild_because(const Packaging& work, const Texts& changes, const std::string& otherwise) {
  if (work.request().no_cache) {
    return {.reason = "--no-cache asks for it"};
  }
  if (!changes.empty()) {
    return {.reason = plan::summary(changes)};
  }
  if (otherwise.empty()) {
    return {.reason = "this project was not built here before", .is_first = true};
  }
  return {.reason = otherwise};
}

/// Returns all changes of the image, the dependencies first.
Texts all_changes(const Packaging& work) {
  const auto& changes = work.comparison().changes;
  Texts all = changes.dependencies;
  all.insert(all.end(), changes.code.begin(), changes.code.end());
  return all;
}

}  // namespace

Outcome expected_image(const Packaging& work) {
  const auto* const gone = work.wanted().is_pushed()        ? "the registry does not have it"
                           : work.request().outputs.empty() ? "the engine does not have it"
                                                            : "its files are not kept";
  return rebuild_because(work, all_changes(work), work.comparison().is_first ? "" : gone);
}

std::optional<Outcome> expected_dependencies(const Packaging& work) {
  if (!work.needs_dependencies()) {
    return std::nullopt;
  }
  const auto& changes = work.comparison().changes.dependencies;
  const bool as_before = !work.comparison().is_first && !work.request().no_cache && changes.empty();
  return as_before ? reuse_because(changes) : rebuild_because(work, changes, "");
}

Outcome reused_image(const Packaging& work) {
  return reuse_because(all_changes(work));
}

std::optional<Outcome> reused_dependencies(const Packaging& work) {
  return work.needs_dependencies()
             ? std::optional{reuse_because(work.comparison().changes.dependencies)}
             : std::nullopt;
}

Outcome rebuilt_dependencies(const Packaging& work, const std::string& otherwise) {
  return rebuild_because(work, work.comparison().changes.dependencies, otherwise);
}

std::string to_text(const Outcome& outcome) {
  if (outcome.is_first) {
    return "built for the first time here";
  }
  return fmt::format("{}{}", outcome.reused ? "reused: " : "rebuilt because ", outcome.reason);
}

}  // namespace autopack::packaging
