#pragma once

#include "base/digest.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::image {

/// The facts that a plan needs about its executor image. They are found, never guessed.
struct BaseFacts {
  std::string reference{};         ///< as the user wrote it
  std::optional<Digest> digest{};  ///< of the manifest; absent if only the engine has the image
  std::optional<std::string> image_id{};  ///< `sha256:...` of its configuration; absent if unknown
  std::string platform{};                 ///< `linux/amd64`
  std::optional<std::string> python{};    ///< `python3` or `python`, whichever is on PATH
  /// The interpreter's version, `3.11.2` or `3.11`; absent if unknown.
  std::optional<std::string> python_version{};
  bool pip{false};     ///< the interpreter has pip
  bool apt{false};     ///< the image has apt-get: Debian or Ubuntu
  std::string user{};  ///< of the configuration; empty means root
  std::vector<std::string> entrypoint{};
  std::vector<std::string> environment{};     ///< `NAME=value`
  std::optional<std::string> cuda_version{};  ///< from CUDA_VERSION; absent if unknown
  bool vertex_prebuilt{false};                ///< a Vertex AI prebuilt training image, by name

  bool operator==(const BaseFacts&) const = default;
};

/// True for `{us,europe,asia}-docker.pkg.dev/vertex-ai/training/NAME`, including `sklearn-*`.
bool is_vertex_prebuilt(std::string_view reference);

/// Returns one line of JSON with sorted keys, without `environment`: the record in a committed
/// Dockerfile.
std::string to_json_line(const BaseFacts& facts);
/// Returns nothing if `text` is not such a line.
std::optional<BaseFacts> facts_from_json(std::string_view text);

}  // namespace autopack::image
