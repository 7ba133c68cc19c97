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

/// A layer that was sent to an engine or a registry.
struct SentLayer {
  std::string id{};  ///< its digest, or the engine's short form of it
  std::uint64_t size{0};
  bool uploaded{false};
};

/// How the wheels of an image got into its registry.
struct MovedWheels {
  std::size_t wheels{0};
  /// in layers that were sent because the registry was not known to have them
  std::size_t new_wheels{0};
  std::uint64_t bytes_sent{0};   ///< of their layers
  std::uint64_t bytes_there{0};  ///< of those that the registry had
};

/// Returns `2 of 34 wheels new, 0.2 MB sent, 368 MB already in the registry`.
std::string to_text(const MovedWheels& moved);

/// A document that was attached to an image in its registry.
struct AttachedDocument {
  std::string name{};           ///< for people: `provenance`
  std::string artifact_type{};  ///< of its manifest
  Digest digest;                ///< of its manifest
};

/// A packaged image, in the engine, in a registry or in files.
struct Image {
  std::string repository{};
  std::string tag{};  ///< `ap-<16 hex>`
  /// `sha256:...` of the configuration; absent if only a registry has the image.
  std::optional<std::string> image_id{};
  std::optional<Digest> digest{};  ///< of the manifest; absent until it is pushed
  Outcome outcome{};
  std::optional<Outcome> dependencies{};  ///< absent if nothing is installed
  std::string engine{"docker"};
  std::uint64_t bytes_uploaded{0};
  std::vector<SentLayer> layers{};
  std::optional<MovedWheels> wheels{};  ///< absent if no layers of wheels were made
  std::optional<source::GitFacts> git{};
  std::vector<AttachedDocument> attached{};

  /// Returns the image's name for a job: `repository@sha256:...`, or the image ID if no registry
  /// has it.
  std::string uri() const;
};

/// Returns `all rebuilt because ...`, or `dependencies reused: ...; code rebuilt because ...`.
std::string planned_text(const Image& image);

/// Returns the `image` object of `--format=json`.
nlohmann::json to_json(const Image& image);

}  // namespace autopack::packaging
