#pragma once

#include "build/wheels/installed_wheels.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// What the indexes list now about the wheels of an image.
struct PublishedWheels {
  std::size_t wheels{0};                  ///< in the image, from indexes
  std::size_t listed{0};                  ///< of them, with the same hash
  std::vector<std::string> differing{};   ///< files that an index lists with another hash: why
  std::vector<std::string> unlisted{};    ///< files that no index lists any more, or without a hash
  std::vector<std::string> unasked{};     ///< files of which no index was asked: why
  std::optional<std::string> obstacle{};  ///< why the indexes could not be asked
};

/// Asks the indexes that `work` uses, on an executor image with the index `default_index` of pip,
/// for `wheels`. An index that neither the user nor the project names is not asked. Sends the
/// requests even if pages are cached.
PublishedWheels ask_for_wheels(Services& services,
                               const packaging::Packaging& work,
                               const std::optional<std::string>& default_index,
                               const std::vector<InstalledWheel>& wheels);

/// Returns why no index is asked for `wheel` if the user and the project name the indexes `known`;
/// nothing if one is.
std::optional<std::string> reason_not_to_ask(const InstalledWheel& wheel,
                                             const std::vector<std::string>& known);

/// Compares one wheel with what an index offers for its project, and adds the result to `found`.
void compare_with_offers(const InstalledWheel& wheel,
                         const std::vector<index::Candidate>& offers,
                         PublishedWheels& found);

}  // namespace autopack::build
