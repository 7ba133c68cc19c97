#pragma once

#include "base/digest.hpp"
#include "image/facts.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::image {

/// An image in files: `oci:DIR[:TAG]`, `oci:DIR@sha256:...` (an OCI layout) or `tar:FILE` (an OCI
/// layout in a tar, or the output of `docker save`).
struct FileReference {
  enum class Kind { layout, archive };

  Kind kind{Kind::layout};
  std::filesystem::path path{};
  std::optional<std::string> tag{};
  std::optional<Digest> digest{};
  std::string text{};  ///< as the user wrote it

  /// Returns nothing if `text` begins with neither `oci:` nor `tar:`. Throws Error(usage) if it
  /// does but names no file.
  static std::optional<FileReference> parse(std::string_view text);
};

/// True if `reference` names an image in files.
bool names_files(std::string_view reference);

/// Returns the reason why `text` is not a valid name of a base (an image's name, or an image in
/// files), or nothing if it is valid.
std::optional<std::string> base_fault(std::string_view text);

/// Returns the name of a base for FROM: its reference, or for an image in files the name under
/// which it is loaded into an engine, `autopack/base:<16 hexadecimal digits>`.
std::string build_name(const BaseFacts& base);

}  // namespace autopack::image
