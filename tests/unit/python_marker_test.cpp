#include "python/marker.hpp"

#include <doctest/doctest.h>

namespace autopack::python_marker_test {

using namespace autopack::python;

namespace {

std::optional<bool> holds(std::string_view text,
                          std::string_view python = "3.11.2",
                          std::vector<std::string> extras = {}) {
  const auto marker = Marker::parse(text);
  REQUIRE_MESSAGE(marker, text);
  auto environment = environment_on_linux(Version::parse(python).value(), "x86_64");
  environment.extras = std::move(extras);
  return marker->holds_in(environment);
}

}  // namespace

TEST_CASE("a marker is judged for Linux and a Python version") {
  CHECK(holds("sys_platform == 'linux'") == true);
  CHECK(holds("sys_platform == \"win32\" or os.name == 'nt'") == false);
  CHECK(holds("python_version<'3.9'") == false);
  CHECK(holds("'3.9' <= python_version") == true);
  CHECK(holds("python_version >= '3.10' and platform_machine != 'aarch64'") == true);
  CHECK(holds("platform_system == 'Darwin' and (os_name == 'posix' or os_name == 'nt')") == false);
  CHECK(holds("os_name == 'nt' or os_name == 'posix' and platform_system == 'Linux'") == true);
  CHECK(holds("python_version in '3.10 3.11'") == true);
  CHECK(holds("sys_platform not in 'win32 darwin'") == true);
  CHECK(holds("python_version == '3.11.*'") == true);
  CHECK(holds("sys_platform < 'z'") == false);
}

TEST_CASE("unknown values leave a marker open unless the rest decides it") {
  CHECK(holds("python_full_version < '3.11.4'", "3.11") == std::nullopt);
  CHECK(holds("python_full_version < '3.11.4' and os_name == 'nt'", "3.11") == false);
  CHECK(holds("os_name == 'posix' or platform_release > '5'") == true);
  CHECK(holds("platform_release > '5'") == std::nullopt);
}

TEST_CASE("extras and groups are members of sets") {
  CHECK(holds("extra == 'GPU_all'", "3.11", {"gpu-all", "dev"}) == true);
  CHECK(holds("extra == 'gpu'") == false);
  CHECK(holds("'dev' in extras", "3.11", {"dev"}) == true);
  CHECK(holds("'test' in dependency_groups") == false);
}

TEST_CASE("an invalid marker is distinguished") {
  for (const auto* text :
       {"", "python_version", "python_version ==", "'a' == 'b'", "python == '3'", "os_name = 'x'",
        "os_name == 'x", "os_name == 'x' and", "(os_name == 'x'", "os_name == 'x')",
        "os_name not 'x'", "os_name == 'a' os_name == 'b'"}) {
    CHECK_FALSE_MESSAGE(Marker::parse(text), text);
  }
  const std::string deep(10000, '(');
  CHECK_FALSE(Marker::parse(deep + "os_name == 'x'"));
}

}  // namespace autopack::python_marker_test
