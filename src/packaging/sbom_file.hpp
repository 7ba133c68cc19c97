#pragma once

#include <filesystem>
#include <string_view>

namespace autopack::packaging {

/// The format of a bill of materials.
enum class SbomFormat { spdx, cyclonedx };

/// A file for the bill of materials of an image. Its name says the format.
struct SbomFile {
  SbomFormat format{SbomFormat::spdx};
  std::filesystem::path path{};

  /// Returns the file with the name `text`. Throws Error(usage) unless the name ends with
  /// `.spdx.json` or `.cdx.json`.
  static SbomFile parse(std::string_view text);
};

}  // namespace autopack::packaging
