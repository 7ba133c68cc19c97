#pragma once

#include "base/digest.hpp"
#include "packaging/comparison.hpp"
#include "source/git.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::packaging {

/// A layer that went into an engine or to a registry.
struct SentLayer {
  std::string id{};  ///< its digest, or as the engine shortens it
  std::uint64_t size{0};
  bool uploaded{false};
};

/// What became of the wheels of an image on their way to its registry.
struct MovedWheels {
  std::size_t wheels{0};
  std::size_t new_wheels{0};     ///< in layers that were sent, and not known to the registry before
  std::uint64_t bytes_sent{0};   ///< of their layers
  std::uint64_t bytes_there{0};  ///< of those that the registry had
};

/// `2 of 34 wheels new, 0.2 MB sent, 368 MB already in the registry`.
std::string to_text(const MovedWheels& moved);

/// A packaged image, in the daemon, in a registry or in files.
struct Image {
  std::string repository{};
  std::string tag{};  ///< `ap-<16 hex>`
  /// `sha256:...` of the configuration; none when only a registry has it.
  std::optional<std::string> image_id{};
  std::optional<Digest> digest{};  ///< of the manifest; none until it is pushed
  Outcome outcome{};
  std::optional<Outcome> dependencies{};  ///< none when nothing is installed
  std::string engine{"docker"};
  std::uint64_t bytes_uploaded{0};
  std::vector<SentLayer> layers{};
  std::optional<MovedWheels> wheels{};  ///< none when no layers of wheels were made
  std::optional<source::GitFacts> git{};

  /// What goes into a job: `repository@sha256:...`, or the image ID when no registry has it.
  std::string uri() const;
};

/// `all rebuilt because ...`, `dependencies reused: ...; code rebuilt because ...`.
std::string planned_text(const Image& image);

/// The `image` object of `--format=json`.
nlohmann::json to_json(const Image& image);

}  // namespace autopack::packaging
