#include "base/text.hpp"
#include "python/tags.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace autopack::python_tags_test {

using namespace autopack::python;

namespace {

Interpreter interpreter(const char* version, std::string flags = {}) {
  return {.version = Version::parse(version).value(),
          .abi_flags = std::move(flags),
          .machine = "x86_64",
          .libc = {.kind = Libc::Kind::glibc, .major = 2, .minor = 36}};
}

WheelName wheel(std::string_view tags) {
  return WheelName::parse("pkg-1.0-" + std::string{tags} + ".whl").value();
}

/// Returns the positions of `wanted` in the list of accepted tags.
std::vector<std::ptrdiff_t> places(const Interpreter& target,
                                   const std::vector<std::string>& wanted) {
  const auto all = AcceptedTags{target}.all();
  std::vector<std::ptrdiff_t> found;
  for (const auto& tag : wanted) {
    const auto at = std::find(all.begin(), all.end(), tag);
    found.push_back(at == all.end() ? -1 : at - all.begin());
  }
  return found;
}

}  // namespace

TEST_CASE("the name of a wheel is read") {
  const auto name =
      WheelName::parse("My.Pkg_x-1.0rc1+cu121-2_b-CP310.cp311-abi3-Manylinux_2_17_x86_64.any.whl");
  REQUIRE(name);
  CHECK(name->name == "my-pkg-x");
  CHECK(name->distribution == "My.Pkg_x");
  CHECK(name->version.str() == "1.0rc1+cu121");
  CHECK(name->build == BuildTag{2, "_b"});
  CHECK(name->interpreters == std::vector<std::string>{"cp310", "cp311"});
  CHECK(name->abis == std::vector<std::string>{"abi3"});
  CHECK(name->platforms == std::vector<std::string>{"manylinux_2_17_x86_64", "any"});
  CHECK_FALSE(WheelName::parse("pkg-1.0-py3-none-any.whl")->build);
}

TEST_CASE("an invalid name of a wheel is explained") {
  struct Case {
    const char* file;
    const char* words;
  };

  for (const auto& [file, words] : std::vector<Case>{
           {"pkg-1.0.tar.gz", "does not end with `.whl`"},
           {"pkg-1.0-py3-none.whl", "4 parts"},
           {"pkg-1.0-1-py3-none-any-x-y.whl", "8 parts"},
           {"pkg-1.0-1-cp311-cp311-linux_x86_64-cu121.whl", "wheel variant (PEP 817)"},
           {"pkg-1.0-cp311-cp311-linux_x86_64-cu121.whl", "wheel variants (PEP 817)"},
           {"-1.0-py3-none-any.whl", "not the name of a distribution"},
           {"p/g-1.0-py3-none-any.whl", "not the name of a distribution"},
           {"pkg-one-py3-none-any.whl", "`one` is not a version"},
           {"pkg-1.0-py3.-none-any.whl", "tags is empty"},
           {"pkg-1.0-3py-none-any.whl", "does not name interpreters"},
           {"pkg-1.0-1234567890123456789-py3-none-any.whl", "not a build tag"},
       }) {
    const std::string shown{file};  // clang 14 captures no binding
    CHECK_FALSE_MESSAGE(WheelName::parse(file), shown);
    const auto fault = wheel_name_fault(file).value();
    CHECK_MESSAGE(fault.find(words) != std::string::npos, shown, ": ", fault);
  }
  CHECK(wheel_name_fault(std::string(600, 'a') + "-1.0-py3-none-any.whl") ==
        "it is longer than 512 bytes");
  CHECK_FALSE(wheel_name_fault("pkg-1.0-py3-none-any.whl"));
}

TEST_CASE("tags are in the order of preference") {
  const auto found =
      places(interpreter("3.11.2"),
             {"cp311-cp311-manylinux_2_36_x86_64", "cp311-cp311-manylinux_2_17_x86_64",
              "cp311-cp311-manylinux2014_x86_64", "cp311-cp311-manylinux_2_16_x86_64",
              "cp311-cp311-manylinux_2_5_x86_64", "cp311-cp311-manylinux1_x86_64",
              "cp311-cp311-linux_x86_64", "cp311-abi3-linux_x86_64", "cp311-none-linux_x86_64",
              "cp310-abi3-linux_x86_64", "cp32-abi3-linux_x86_64", "py311-none-linux_x86_64",
              "py3-none-linux_x86_64", "py310-none-linux_x86_64", "cp311-none-any",
              "py311-none-any", "py3-none-any", "py310-none-any", "py30-none-any"});
  CHECK(found.front() == 0);
  CHECK(std::is_sorted(found.begin(), found.end(), std::less_equal{}));
  CHECK(
      places(interpreter("3.11.2"), {"cp312-abi3-linux_x86_64", "cp311-cp311-manylinux_2_37_x86_64",
                                     "cp311-cp311-manylinux_2_4_x86_64", "cp310-cp310-linux_x86_64",
                                     "cp31-abi3-linux_x86_64", "cp311-abi3t-linux_x86_64"}) ==
      std::vector<std::ptrdiff_t>(6, -1));
}

TEST_CASE("an interpreter without a global lock has its own binary interfaces") {
  const auto found =
      places(interpreter("3.14.0", "t"),
             {"cp314-cp314t-manylinux_2_36_x86_64", "cp314-abi3t-linux_x86_64",
              "cp314-none-linux_x86_64", "cp313-abi3t-linux_x86_64", "py3-none-any"});
  CHECK(std::is_sorted(found.begin(), found.end(), std::less_equal{}));
  CHECK(found.front() == 0);
  CHECK(
      places(interpreter("3.14.0", "t"), {"cp314-cp314-linux_x86_64", "cp314-abi3-linux_x86_64"}) ==
      std::vector<std::ptrdiff_t>{-1, -1});
  const auto debug = places(interpreter("3.14.0", "td"),
                            {"cp314-cp314td-manylinux_2_36_x86_64", "cp314-cp314t-linux_x86_64",
                             "cp314-abi3t-linux_x86_64"});
  CHECK(debug.front() == 0);
  CHECK(std::is_sorted(debug.begin(), debug.end(), std::less_equal{}));
}

TEST_CASE("the rank of a wheel is the place of its best tag") {
  const AcceptedTags tags{interpreter("3.11.2")};
  const auto all = tags.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(tags.rank(wheel(all[i])) == i);
  }
  CHECK(tags.rank(wheel("py2.py3-none-any.win32")) == tags.rank(wheel("py3-none-any")));
  CHECK(tags.rank(wheel("cp310.cp311-cp310.cp311-linux_x86_64")) ==
        tags.rank(wheel("cp311-cp311-linux_x86_64")));
  CHECK_FALSE(tags.rank(wheel("cp311-cp311-any")));
  CHECK_FALSE(tags.rank(wheel("cp310-cp310-manylinux_2_17_x86_64")));
  CHECK_FALSE(tags.rank(wheel("py2-none-any")));
}

TEST_CASE("an interpreter that is not CPython takes pure Python alone") {
  auto target = interpreter("3.10.14");
  target.implementation = "pypy";
  const AcceptedTags tags{target};
  CHECK(tags.rank(wheel("py3-none-any")));
  CHECK_FALSE(tags.rank(wheel("cp310-none-any")));
  CHECK_FALSE(tags.rank(wheel("cp310-abi3-linux_x86_64")));
}

TEST_CASE("markers are judged for the interpreter of an image") {
  auto target = interpreter("3.11.2");
  const auto holds = [&](const char* text) {
    return Marker::parse(text).value().holds_in(marker_environment(target));
  };
  CHECK(holds("python_full_version == '3.11.2' and platform_machine == 'x86_64'") == true);
  CHECK(holds("platform_release == ''") == true);
  CHECK(holds("platform_version >= '5'") == false);
  CHECK(holds("implementation_name == 'cpython'") == true);
  target.implementation = "pypy";
  CHECK(holds("platform_python_implementation == 'PyPy'") == true);
  CHECK(holds("implementation_version > '7'") == std::nullopt);
}

}  // namespace autopack::python_tags_test
