#include "plan/templates.hpp"
#include "plan_fixture.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace autopack::plan_dockerfile_test {

using autopack::plan::Fixture;

namespace {

std::string render(const Fixture& fixture, const plan::Dialect& dialect = {}) {
  return plan::render_dockerfile(fixture.plan(), dialect, fixture.options);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("plan: the base's facts can be read back from the Dockerfile") {
  const Fixture fixture;
  const auto facts = plan::recorded_facts(fixture.plan().dockerfile);
  REQUIRE(facts);
  CHECK(*facts == fixture.base);
  CHECK_FALSE(plan::recorded_facts("FROM x\n# autopack-base: nonsense\n"));
  CHECK_FALSE(plan::recorded_facts(""));
}

TEST_CASE("plan: the classic dialect has no mounts and builds the same stages") {
  const std::string classic = render({}, {.buildkit = false});
  CHECK_FALSE(has(classic, "--mount"));
  CHECK(has(classic, "COPY --from=requirements [\"/\", \"/mnt/\"]"));
  CHECK(has(render({}), "--mount=type=bind,from=requirements,target=/mnt,rw"));
}

TEST_CASE("plan: a wheel is built alone, and nothing of the build stays") {
  const Fixture fixture;
  plan::WheelBuild build{.base = fixture.base,
                         .python = "python3",
                         .source = "source/a b-1.tar.gz",
                         .is_archive = true,
                         .name = "a b-1.tar.gz",
                         .options = ".autopack/options.txt",
                         .environment = {{"CC", "gcc -m64"}}};
  const auto text = plan::render_wheel_build(build, {.base = "x@sha256:1", .pip_settings = "pip"});
  CHECK(has(text,
            "FROM x@sha256:1 AS build\nUSER root\nCOPY [\"source/a b-1.tar.gz\", \"/mnt/\"]\n"));
  CHECK(has(text, "--mount=type=bind,source=pip,target="));
  CHECK(has(text, "export CC='gcc -m64' && "));
  CHECK(has(text, "--requirement .autopack/options.txt"));
  CHECK(has(text,
            "'./a b-1.tar.gz'\n\nFROM scratch\nCOPY --from=build [\"/wheels/\", \"/wheels/\"]\n"));
  build.is_archive = false;
  build.options.reset();
  const auto classic = plan::render_wheel_build(
      build, {.buildkit = false, .base = "x@sha256:1", .pip_settings = "pip"});
  CHECK(has(classic, "ADD [\"source/a b-1.tar.gz\""));
  CHECK_FALSE(has(classic, "--mount"));
  CHECK_FALSE(has(classic, "--requirement"));
  CHECK(has(classic, "COPY [\"pip\""));
}

TEST_CASE("plan: the dialect determines the base and the paths of files") {
  const std::string text =
      render({}, {.base = "example.org/base@sha256:00", .pip_settings = "s", .root = "project"});
  CHECK(has(text, "FROM example.org/base@sha256:00 AS base\n"));
  CHECK(has(text, "COPY [\"project\", \"./\"]"));
  CHECK(has(text, "--mount=type=bind,source=s,target=/var/cache/autopack"));
  CHECK(has(text, ". /var/cache/autopack/environment"));
  CHECK_FALSE(has(render({}), "/environment"));
}

TEST_CASE("plan: the base's user comes back at the end") {
  Fixture fixture;
  fixture.base.user = "trainer";
  const std::string text = render(fixture);
  CHECK(has(text, "\nUSER root\n"));
  CHECK(has(text, "\nUSER trainer\nENTRYPOINT"));
  fixture.base.user = "0:0";
  CHECK_FALSE(has(render(fixture), "USER "));
}

TEST_CASE("plan: local packages come before what may ask for them, and options before both") {
  Fixture fixture;
  fixture.project.pip_options = {"--extra-index-url", "https://host/a b"};
  fixture.project.extra_packages = {"shared"};
  CHECK(fixture.plan().dockerfile.find("-m pip install \\\n"
                                       "        --extra-index-url 'https://host/a b' \\\n"
                                       "        --requirement requirements.txt \\\n"
                                       "        ./shared \\\n"
                                       "        'numpy>=1' \\\n") != std::string::npos);
}

TEST_CASE("plan: members of a workspace are installed if the root is not a package") {
  Fixture fixture;
  fixture.project.package->members = {"libs/one[gpu]", "libs/two"};
  const auto plan = fixture.plan();
  CHECK(plan.dockerfile.find("-m pip install --editable './libs/one[gpu]' --editable ./libs/two "
                             "--no-input\n") != std::string::npos);
  fixture.project.package->installs = true;
  CHECK(fixture.plan().keys->dependencies != plan.keys->dependencies);
}

TEST_CASE("plan: hashed files are installed before the rest") {
  Fixture fixture;
  fixture.project.hashed = true;
  const std::string text = render(fixture);
  const auto first = text.find("--requirement requirements.txt");
  const auto second = text.find("--constraint installed.txt");
  REQUIRE(second != std::string::npos);
  CHECK(first < second);
  CHECK(text.find("--requirement", first + 1) == std::string::npos);
}

TEST_CASE("plan: the user's templates replace the embedded ones") {
  const TemporaryDirectory directory;
  Fixture fixture;
  fixture.options.templates = directory.path();
  CHECK_THROWS_WITH_AS(static_cast<void>(fixture.plan()),
                       doctest::Contains("holds none of `Dockerfile.mustache`"), Error);
  std::ofstream{directory.path() / "Dockerfile.mustache"} << "FROM {{{base}}} # <own>\n";
  const plan::ReadablePlan own = fixture.plan();
  CHECK(own.dockerfile == "FROM example.org/base:1 # <own>\n");
  CHECK(own.keys->dependencies != Fixture{}.plan().keys->dependencies);
  std::ofstream{directory.path() / "Dockerfile.mustache"} << "FROM x\n{{entrypint}}\n";
  CHECK_THROWS_WITH_AS(static_cast<void>(fixture.plan()),
                       doctest::Contains("Dockerfile.mustache:2: the template uses the unknown "
                                         "value `entrypint`"),
                       Error);
  fixture.options.templates = directory.path() / "gone";
  CHECK_THROWS_AS(static_cast<void>(fixture.plan()), Error);
}

TEST_CASE("plan: an unfinished tag of a template is reported with its line") {
  CHECK_THROWS_WITH_AS(plan::check_template("T", "a\n{{b", {"b"}), doctest::Contains("T:2"), Error);
  CHECK_NOTHROW(plan::check_template("T", "{{! any }}{{>p}}{{{ b }}}{{#b}}{{/b}}{{^b}}", {"b"}));
}

}  // namespace autopack::plan_dockerfile_test
