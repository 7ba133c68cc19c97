#pragma once

#include "pipeline/package.hpp"

#include <optional>
#include <string>

namespace autopack::pipeline {

/// What was built of the working directory last; none when nothing was.
std::optional<state::BuildRecord> last_build(const Services& services,
                                             const PackageRequest& request);

/// True when nothing changed since the build `before`.
bool is_as_before(const std::optional<state::BuildRecord>& before, const plan::Plan& plan);

/// Compares with the build `before`; nothing is asked or built, so that `explain` can tell it too.
Reasons reasons(const std::optional<state::BuildRecord>& before,
                const Scanned& scanned,
                const plan::Plan& plan);

/// Keeps what was built now for the next time.
void remember(const Services& services, const PackageRequest& request, const Reasons& reasons);

/// What a build will do about the image and about its dependencies, by the record alone: a
/// registry may have either already. No dependencies: none.
Outcome expected_image(const PackageRequest& request, const Reasons& reasons);
std::optional<Outcome> expected_dependencies(const PackageRequest& request,
                                             const Reasons& reasons,
                                             const plan::Plan& plan);

/// An image that was there already, and its dependencies.
Outcome reused(const Reasons& reasons);
std::optional<Outcome> reused_dependencies(const Reasons& reasons, const plan::Plan& plan);

/// Why dependencies are made anew: `--no-cache`, what changed, else `otherwise`.
Outcome rebuilt_dependencies(const PackageRequest& request,
                             const Reasons& reasons,
                             const std::string& otherwise);

/// `reused: nothing changed`, `rebuilt because requirements.txt changed (numpy 2.1 -> 2.2)`.
std::string to_text(const Outcome& outcome);

/// Tells what is about to be done and why.
void tell_planned(const Services& services, const Image& image);

}  // namespace autopack::pipeline
