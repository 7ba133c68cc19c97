#pragma once

#include "base/digest.hpp"
#include "image/manifest.hpp"
#include "packaging/output.hpp"
#include "services/services.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::rebase {

/// An image to move to another base.
struct Wish {
  std::string image{};
  std::string onto{};
  std::optional<std::string> target{};  ///< repository and tag of the result; absent: the image's
  std::vector<packaging::Output> outputs{};   ///< layouts and archives
  std::optional<std::string> platform{};      ///< of an image with several
  std::optional<std::string> current_base{};  ///< instead of the base in the labels
  bool dry_run{false};
};

/// A base, as it was named, and its digest.
struct NamedBase {
  std::string name{};
  Digest digest;
};

/// A moved image.
struct Moved {
  Digest from;
  Digest digest;
  std::string uri{};  ///< `repository@sha256:...`, or the digest if only files have it
  NamedBase before;
  NamedBase after;
  bool same_base{false};  ///< nothing had to be moved
  std::vector<image::Descriptor> layers{};
  std::size_t base_layers{0};  ///< of them
  std::uint64_t bytes_uploaded{0};
};

/// Throws Error(usage) if something of `wish` is missing or makes no sense. Sends no request.
void check(const Wish& wish);

/// Replaces the layers of the image's base by those of another one, sends the result to its
/// repository and outputs, and reports it. Reads no layer of the image. Throws Error(remote) with
/// all reasons if the new base does not fit, or if the image was not assembled by autopack alone;
/// then nothing is sent.
Moved move_image(Services& services, const Wish& wish);

/// Returns the object of `--format=json`.
nlohmann::json to_json(const Moved& moved);

}  // namespace autopack::rebase
