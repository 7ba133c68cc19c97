#include "packaging/sbom_file.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <string>

namespace autopack::packaging {

SbomFile SbomFile::parse(std::string_view text) {
  const auto name = std::filesystem::path{text}.filename().string();
  if (name.ends_with(".spdx.json")) {
    return {.format = SbomFormat::spdx, .path = text};
  }
  if (name.ends_with(".cdx.json")) {
    return {.format = SbomFormat::cyclonedx, .path = text};
  }
  throw Error(ErrorKind::usage,
              fmt::format("`{}` is not a value of `--sbom`: its name does not say a format",
                          printable(text)))
      .hint("a name that ends with `.spdx.json` requests SPDX 2.3")
      .hint("a name that ends with `.cdx.json` requests CycloneDX 1.6");
}

}  // namespace autopack::packaging
