#include "base/error.hpp"
#include "packaging/sbom_file.hpp"

#include <doctest/doctest.h>

namespace autopack::packaging_sbom_file_test {

using packaging::SbomFile;
using packaging::SbomFormat;

TEST_CASE("the name of a bill of materials says its format") {
  CHECK(SbomFile::parse("a.spdx.json").format == SbomFormat::spdx);
  CHECK(SbomFile::parse("/x/a.cdx.json").format == SbomFormat::cyclonedx);
  CHECK(SbomFile::parse("/x/a.cdx.json").path == "/x/a.cdx.json");
  for (const char* wrong : {"", "-", "a.json", "a.spdx", "a.spdx.json/", "a.cdx.xml"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(SbomFile::parse(wrong), Error);
  }
}

}  // namespace autopack::packaging_sbom_file_test
