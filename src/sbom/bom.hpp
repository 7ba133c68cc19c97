#pragma once

#include "base/digest.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::sbom {

/// A part of an image, or the image itself.
struct Component {
  enum class Kind { image, base_image, layer, system_package, python_package, project };

  std::string id{};  ///< unique in its Bom: letters, digits, `.` and `-`
  Kind kind{Kind::python_package};
  std::string name{};
  std::string version{};  ///< empty if unknown
  std::optional<std::string> purl{};
  std::optional<Digest> sha256{};              ///< of an image's manifest, a layer or a wheel
  std::optional<std::string> licence{};        ///< an SPDX expression; absent: not certain
  std::optional<std::string> download{};       ///< the URL that it came from, without a login
  std::optional<std::string> repository{};     ///< the URL of its git repository
  std::optional<std::string> file_name{};      ///< of a wheel
  std::map<std::string, std::string> facts{};  ///< further ones by name, `autopack:...`
};

/// A relationship between two components, by their ids.
struct Relationship {
  enum class Kind { contains, descends_from };

  std::string from{};
  Kind kind{Kind::contains};
  std::string to{};

  auto operator<=>(const Relationship&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// A bill of materials: the parts of an image. Equal images give equal documents.
struct Bom {
  std::string name{};                   ///< of the image
  Digest digest;                        ///< of the image; the documents' identifiers derive from it
  std::int64_t created{0};              ///< in seconds since 1970
  std::string tool_version{};           ///< autopack's
  std::vector<Component> components{};  ///< the image first
  std::vector<Relationship> relationships{};
};

/// Returns an SPDX 2.3 document in JSON: sorted, without random parts, with a final line feed.
std::string spdx_json(const Bom& bom);

/// Returns a CycloneDX 1.6 document in JSON, in the same manner.
std::string cyclonedx_json(const Bom& bom);

/// Returns `time`, in seconds since 1970, as `2026-11-29T18:00:00Z`; years before 1970 and after
/// 9999 become these.
std::string timestamp(std::int64_t time);

/// Returns a UUID that depends only on `text`.
std::string uuid_of(const std::string& text);

}  // namespace autopack::sbom
