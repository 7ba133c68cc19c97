#include "python/specifier.hpp"
#include "python/version.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace autopack::python_version_test {

using namespace autopack::python;

namespace {

Version version(std::string_view text) {
  const auto parsed = Version::parse(text);
  REQUIRE_MESSAGE(parsed, text);
  return *parsed;
}

bool fits(std::string_view conditions,
          std::string_view candidate,
          Prereleases prereleases = Prereleases::as_named) {
  const auto set = SpecifierSet::parse(conditions);
  REQUIRE_MESSAGE(set, conditions);
  return set->contains(version(candidate), prereleases);
}

bool fits_poetry(std::string_view constraint, std::string_view candidate) {
  const auto alternatives = parse_poetry_constraint(constraint);
  REQUIRE_MESSAGE(alternatives, constraint);
  return std::any_of(alternatives->begin(), alternatives->end(), [&](const SpecifierSet& one) {
    return one.contains(version(candidate), Prereleases::allowed);
  });
}

}  // namespace

TEST_CASE("a version has one normal form") {
  CHECK(version(" v1.0-Alpha_1 ").str() == "1.0a1");
  CHECK(version("01!02.0.PREVIEW.post-4.dev").str() == "1!2.0rc0.post4.dev0");
  CHECK(version("1.0-3+Ubuntu_007").str() == "1.0.post3+ubuntu.7");
  CHECK(version("2.1.0+cu121").without_local().str() == "2.1.0");
  for (const auto* text :
       {"", "x", "1..0", "1.0x", "1.0+", "1.0+a..b", "!1", "1 0", "1.*", "1.0000000000000000001"}) {
    CHECK_FALSE(Version::parse(text));
  }
}

TEST_CASE("versions are in PEP 440's order") {
  const std::vector<std::string> ordered{"0.9",
                                         "1.0.dev0",
                                         "1.0.dev456",
                                         "1.0a1",
                                         "1.0a2.dev456",
                                         "1.0a12.dev456",
                                         "1.0a12",
                                         "1.0b1.dev4",
                                         "1.0b2",
                                         "1.0b2.post345.dev456",
                                         "1.0b2.post345",
                                         "1.0rc1.dev456",
                                         "1.0rc1",
                                         "1.0",
                                         "1.0+abc.5",
                                         "1.0+abc.7",
                                         "1.0+5",
                                         "1.0+10",
                                         "1.0.post456.dev34",
                                         "1.0.post456",
                                         "1.0.1",
                                         "1.1.dev1",
                                         "1!0.1"};
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    CHECK_MESSAGE(version(ordered[i - 1]) < version(ordered[i]), ordered[i]);
  }
  CHECK(version("1.0.0") == version("1"));
}

TEST_CASE("conditions hold as PEP 440 says") {
  CHECK(fits(">=3.8, <4", "3.11.2"));
  CHECK_FALSE(fits(">=3.8,<3.11", "3.11"));
  CHECK(fits("==1.0", "1.0+cpu"));
  CHECK_FALSE(fits("==1.0+cpu", "1.0"));
  CHECK(fits("==3.11.*", "3.11rc1", Prereleases::allowed));
  CHECK_FALSE(fits("!=3.11.*", "3.11.7"));
  CHECK(fits("~=2.2.post3", "2.9"));
  CHECK_FALSE(fits("~=2.2.0", "2.3"));
  CHECK_FALSE(fits(">1.7", "1.7.post1"));
  CHECK_FALSE(fits("<1.7", "1.7rc1", Prereleases::allowed));
  CHECK(fits("===1.0+x", "1.0+x"));
  CHECK_FALSE(fits(">=1", "2.0a1"));
  CHECK(fits(">=2.0a1", "2.0a2"));
  CHECK(fits("", "1.0"));
  for (const auto* text : {"1.0", "=1.0", ">=1.*", ">=1.0+cpu", "~=1", "==1.0a1.*", ">=1.0 <2"}) {
    CHECK_FALSE_MESSAGE(SpecifierSet::parse(text), text);
  }
}

TEST_CASE("constraints as Poetry writes them") {
  CHECK(fits_poetry("^3.8", "3.11"));
  CHECK_FALSE(fits_poetry("^3.8", "4.0"));
  CHECK_FALSE(fits_poetry("^0.2.3", "0.3"));
  CHECK(fits_poetry("^0", "0.9"));
  CHECK(fits_poetry("~3.9", "3.9.7"));
  CHECK_FALSE(fits_poetry("~3.9", "3.10"));
  CHECK(fits_poetry("~3", "3.10"));
  CHECK(fits_poetry("3.8.*", "3.8.1"));
  CHECK(fits_poetry(">= 3.8 <3.12", "3.11"));
  CHECK_FALSE(fits_poetry(">=3.8,<3.11", "3.11"));
  CHECK(fits_poetry("2.7 || ^3.6", "3.9"));
  CHECK(fits_poetry("*", "3.9"));
  CHECK_FALSE(parse_poetry_constraint("three"));
}

}  // namespace autopack::python_version_test
