#pragma once

#include "base/digest.hpp"
#include "image/facts.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::image {

/// An image in files: `oci:DIR[:TAG]`, `oci:DIR@sha256:...` (an OCI layout) or `tar:FILE` (an OCI
/// layout in a tar, or what `docker save` writes).
struct FileReference {
  enum class Kind { layout, archive };

  Kind kind{Kind::layout};
  std::filesystem::path path{};
  std::optional<std::string> tag{};
  std::optional<Digest> digest{};
  std::string text{};  ///< as the user wrote it

  /// None when `text` begins with neither `oci:` nor `tar:`. Throws Error(usage) when it does and
  /// names no file.
  static std::optional<FileReference> parse(std::string_view text);
};

/// True when `reference` names an image in files.
bool names_files(std::string_view reference);

/// What is wrong with `text` as the name of a base: an image's name, or an image in files.
std::optional<std::string> base_fault(std::string_view text);

/// What stands after FROM for a base: its reference, and for an image in files the name under which
/// it is loaded into an engine: `autopack/base:<16 hexadecimal digits>`.
std::string build_name(const BaseFacts& base);

}  // namespace autopack::image
