#include "build/wheels/installed_wheels.hpp"

#include <doctest/doctest.h>

namespace autopack::build_installed_wheels_test {

namespace {

using build::installed_wheels;
using build::installed_wheels_from_json;
using build::InstalledWheel;

std::vector<InstalledWheel> two_wheels() {
  const auto here = sha256("built here");
  const auto fetched = sha256("fetched");
  const std::vector<wheel::ChosenWheel> wheels{
      {.name = "tools", .digest = here, .size = 7, .file_name = "tools-0.5-py3-none-any.whl"},
      {.name = "numpy",
       .digest = fetched,
       .size = 9,
       .file_name = "numpy-2.1.0-cp311-cp311-manylinux_2_17_x86_64.whl"}};
  lock::LockedSet set;
  set.packages = {{.name = "numpy", .index = "https://user:word@example.org/simple"},
                  {.name = "tools", .is_direct = true}};
  return installed_wheels(
      wheels, set,
      {{fetched, {.name = "numpy", .url = "https://user:word@example.org/numpy.whl"}},
       {here, {.name = "tools", .url = "file:///wheels/tools.whl"}}});
}

}  // namespace

TEST_CASE("the record of installed wheels has their versions, and no login and no local path") {
  const auto wheels = two_wheels();
  REQUIRE(wheels.size() == 2);
  CHECK(wheels[0].name == "numpy");
  CHECK(wheels[0].version == "2.1.0");
  CHECK(wheels[0].url == "https://example.org/numpy.whl");
  CHECK(wheels[0].index == "https://example.org/simple");
  CHECK_FALSE(wheels[0].is_direct);
  CHECK(wheels[1].name == "tools");
  CHECK(wheels[1].url.empty());
  CHECK(wheels[1].is_direct);
}

TEST_CASE("the record of installed wheels is read back, and a damaged one is refused") {
  const auto wheels = two_wheels();
  CHECK(installed_wheels_from_json(build::to_json(wheels)) == wheels);
  for (const auto* text :
       {"", "{}", "[1]", R"([{"name":"a"}])", R"([{"name":"a","digest":"sha256:1","size":1}])"}) {
    CAPTURE(text);
    CHECK_FALSE(installed_wheels_from_json(text));
  }
}

}  // namespace autopack::build_installed_wheels_test
