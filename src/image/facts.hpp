#pragma once

#include "base/digest.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::image {

/// Found, never guessed: what a plan must know of its executor image.
struct BaseFacts {
  std::string reference{};         ///< as the user wrote it
  std::optional<Digest> digest{};  ///< of the manifest; none when only the daemon has the image
  std::optional<std::string>
      image_id{};                       ///< `sha256:...` of its configuration; none when not known
  std::string platform{};               ///< `linux/amd64`
  std::optional<std::string> python{};  ///< `python3` or `python`, whichever is on PATH
  /// Of that interpreter: `3.11.2`, `3.11`; none when not known.
  std::optional<std::string> python_version{};
  bool pip{false};     ///< the interpreter has pip
  bool apt{false};     ///< Debian or Ubuntu: apt-get is there
  std::string user{};  ///< of the configuration; empty = root
  std::vector<std::string> entrypoint{};
  std::vector<std::string> environment{};     ///< `NAME=value`
  std::optional<std::string> cuda_version{};  ///< from CUDA_VERSION; none when not known
  bool vertex_prebuilt{false};                ///< a Vertex AI prebuilt training image, by name

  bool operator==(const BaseFacts&) const = default;
};

/// True for `{us,europe,asia}-docker.pkg.dev/vertex-ai/training/NAME`, `sklearn-*` included.
bool is_vertex_prebuilt(std::string_view reference);

/// One line of JSON with sorted keys, without `environment`: the record a committed Dockerfile
/// holds.
std::string to_json_line(const BaseFacts& facts);
/// None when `text` is no such line.
std::optional<BaseFacts> facts_from_json(std::string_view text);

}  // namespace autopack::image
