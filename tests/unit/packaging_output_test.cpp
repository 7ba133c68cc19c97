#include "base/error.hpp"
#include "packaging/output.hpp"

#include <doctest/doctest.h>

namespace autopack::packaging_output_test {

using packaging::Output;

TEST_CASE("outputs are a layout, an archive or the daemon") {
  const auto layout = Output::parse("oci:/a/b:v1");
  CHECK(layout.kind == Output::Kind::layout);
  CHECK(layout.path == "/a/b");
  CHECK(layout.tag == "v1");
  const auto archive = Output::parse("tar:out/image.tar");
  CHECK(archive.kind == Output::Kind::archive);
  CHECK(archive.path == "out/image.tar");
  CHECK(Output::parse("docker").kind == Output::Kind::docker);
  for (const char* wrong : {"", "dockerd", "oci", "oci:", "tar:", "/a/b", "registry:x"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(Output::parse(wrong), Error);
  }
  CHECK_THROWS_AS(Output::parse("oci:a@sha256:" + std::string(64, 'a')), Error);
}

}  // namespace autopack::packaging_output_test
