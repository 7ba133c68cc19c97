#include "pipeline/reasons.hpp"

#include "engine/direct.hpp"

#include <fmt/format.h>

namespace autopack::pipeline {

namespace {

using Texts = std::vector<std::string>;

Outcome taken(const Texts& changes) {
  return {.reused = true, .reason = changes.empty() ? "nothing changed" : "it was built before"};
}

Outcome rebuilt(const PackageRequest& request, const Texts& changes, const std::string& otherwise) {
  if (request.no_cache) {
    return {.reason = "--no-cache asks for it"};
  }
  if (!changes.empty()) {
    return {.reason = plan::summary(changes)};
  }
  return {.reason =
              otherwise.empty() ? "nothing was built of this project here before" : otherwise};
}

/// What changed of the image; the dependencies first.
Texts all_changes(const Reasons& reasons) {
  Texts all = reasons.changes.dependencies;
  all.insert(all.end(), reasons.changes.code.begin(), reasons.changes.code.end());
  return all;
}

}  // namespace

std::optional<state::BuildRecord> last_build(const Services& services,
                                             const PackageRequest& request) {
  return services.build_records.get(request.project.directory);
}

bool is_as_before(const std::optional<state::BuildRecord>& before, const plan::Plan& plan) {
  return before && before->image_key == plan.image_key;
}

Reasons reasons(const std::optional<state::BuildRecord>& before,
                const Scanned& scanned,
                const plan::Plan& plan) {
  if (is_as_before(before, plan)) {
    return {.first = false};
  }
  Reasons why{.first = !before, .now = plan::record_of(plan, scanned.project)};
  if (before) {
    why.changes = plan::changes(*before, *why.now);
  }
  return why;
}

void remember(const Services& services, const PackageRequest& request, const Reasons& reasons) {
  if (reasons.now) {
    services.build_records.put(request.project.directory, *reasons.now);
  }
}

Outcome expected_image(const PackageRequest& request, const Reasons& reasons) {
  const auto changes = all_changes(reasons);
  return rebuilt(request, changes, reasons.first ? "" : "it is not there any more");
}

std::optional<Outcome> expected_dependencies(const PackageRequest& request,
                                             const Reasons& reasons,
                                             const plan::Plan& plan) {
  if (engine::needs_no_dependency_image(plan)) {
    return std::nullopt;
  }
  const auto& changes = reasons.changes.dependencies;
  const bool as_before = !reasons.first && !request.no_cache && changes.empty();
  return as_before ? taken(changes) : rebuilt(request, changes, "");
}

Outcome reused(const Reasons& reasons) {
  return taken(all_changes(reasons));
}

std::optional<Outcome> reused_dependencies(const Reasons& reasons, const plan::Plan& plan) {
  return engine::needs_no_dependency_image(plan)
             ? std::nullopt
             : std::optional{taken(reasons.changes.dependencies)};
}

Outcome rebuilt_dependencies(const PackageRequest& request,
                             const Reasons& reasons,
                             const std::string& otherwise) {
  return rebuilt(request, reasons.changes.dependencies, otherwise);
}

std::string to_text(const Outcome& outcome) {
  return fmt::format("{}{}", outcome.reused ? "reused: " : "rebuilt because ", outcome.reason);
}

void tell_planned(const Services& services, const Image& image) {
  const auto& dependencies = image.dependencies;
  if (!dependencies) {
    services.reporter->done("Planned", to_text(image.outcome));
    return;
  }
  const bool one_reason = !dependencies->reused && dependencies->reason == image.outcome.reason;
  services.reporter->done(
      "Planned", one_reason ? "all " + to_text(image.outcome)
                            : fmt::format("dependencies {}; code {}", to_text(*dependencies),
                                          to_text(image.outcome)));
}

}  // namespace autopack::pipeline
