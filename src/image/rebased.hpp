#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::image {

/// The configurations of an image, of the base below it, and of the base that replaces that one.
struct RebasedParts {
  std::string image{};
  std::string before{};
  std::string after{};
};

/// A step of an image's history above its base.
struct OwnStep {
  std::string created_by{};
  bool has_layer{false};
  bool is_ours{false};  ///< made by autopack, from files alone
};

/// Returns the steps of the history of `image` that follow those of its base, or nothing if it does
/// not begin with the base's. Throws Error(remote) if one of the configurations cannot be read.
std::optional<std::vector<OwnStep>> own_steps(const RebasedParts& parts);

/// Returns the configuration of the image on the other base: what the image sets itself, else the
/// values of the new base; the layers and the history of the new base, then the image's own. Sets
/// `labels`, and removes those with an empty text. Throws Error(remote) if a configuration cannot
/// be read, or if the image does not continue its base.
std::string rebased_configuration(const RebasedParts& parts,
                                  const std::map<std::string, std::string>& labels);

}  // namespace autopack::image
