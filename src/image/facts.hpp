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
  std::string image_id{};          ///< `sha256:...` of its configuration; empty when not known
  std::string platform{};          ///< `linux/amd64`
  std::string python{};  ///< `python3` or `python`, whichever is on PATH; empty when neither
  std::string python_version{};  ///< of that interpreter: `3.11.2`, `3.11`; empty when not known
  bool pip{false};               ///< the interpreter has pip
  bool apt{false};               ///< Debian or Ubuntu: apt-get is there
  std::string user{};            ///< of the configuration; empty = root
  std::vector<std::string> entrypoint{};
  std::vector<std::string> environment{};  ///< `NAME=value`
  std::string cuda_version{};              ///< from CUDA_VERSION; empty when not known
  bool vertex_prebuilt{false};             ///< a Vertex AI prebuilt training image, by name

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
