#include "image/manifest.hpp"
#include "packaging/packaging.hpp"
#include "plan/pinned.hpp"
#include "plan_fixture.hpp"

#include <doctest/doctest.h>

namespace autopack::packaging_age_limit_test {

using namespace std::chrono_literals;

TEST_CASE("requirements that name one thing only are pinned") {
  for (const char* line : {"numpy==2.1", "numpy[all]==2.1; python_version<'4'", "a===1",
                           "a>=1 --hash=sha256:00", "-c numpy>=2", "--index-url https://x",
                           "./wheels/a-1-py3-none-any.whl", "a @ https://x/a.whl#sha256=00",
                           "a @ git+https://x/a@0123456789abcdef0123456789abcdef01234567"}) {
    CAPTURE(line);
    CHECK(plan::is_pinned(line));
  }
  for (const char* line :
       {"numpy", "numpy>=2.1", "numpy==2.*", "numpy==2.1,>=2", "a~=1", "a @ https://x/a.whl",
        "a @ git+https://x/a@main", "a; python_version=='3.11'", "-r https://x/requirements.txt"}) {
    CAPTURE(line);
    CHECK_FALSE(plan::is_pinned(line));
  }
}

TEST_CASE("pinned images never expire, and nothing does without a limit") {
  plan::Fixture fixture;
  const auto limit = [&](std::optional<std::chrono::seconds> age) {
    return packaging::AgeLimit{{.max_dependency_age = age}, fixture.project, fixture.plan()};
  };
  CHECK(limit(24h).applies());
  CHECK_FALSE(limit({}).applies());
  fixture.project.package.reset();
  fixture.project.requirements = {"numpy==1"};
  CHECK(limit(24h).applies());
  fixture.project.normalised_requirements = {"six==1.17"};
  CHECK_FALSE(limit(24h).applies());
  fixture.options.system_packages = {"git"};
  CHECK(limit(24h).applies());
}

TEST_CASE("the age is that of the newest installation") {
  plan::Fixture fixture;
  const packaging::AgeLimit hour{{.max_dependency_age = 1h}, fixture.project, fixture.plan()};
  CHECK_FALSE(hour.is_past({100, 5000}, false, 5000 + 3600));
  CHECK(hour.is_past({100, 5000}, false, 5000 + 3601));
  CHECK(hour.is_past({}, false, 5000));
  CHECK(hour.reason() == "they are older than 1 hour");
  fixture.project.package->installs = true;
  const packaging::AgeLimit real{{.options = {.templates = "own"}, .max_dependency_age = 90s},
                                 fixture.project,
                                 fixture.plan()};
  CHECK(real.is_past({100, 5000}, false, 5000));
  CHECK_FALSE(real.is_past({100, 5000}, true, 5000));
  CHECK(real.reason() == "they are older than 90 seconds");
}

TEST_CASE("RUN steps are recognised in the history of any builder") {
  const auto configuration = image::Configuration::parse(
      R"({"os":"linux","rootfs":{"diff_ids":[]},"history":[
        {"created":"1970-01-01T00:00:10.5Z","created_by":"/bin/sh -c #(nop) ADD file:1 in / "},
        {"created":"1970-01-01T00:00:20Z","created_by":"/bin/sh -c pip install x"},
        {"created":"1970-01-01T00:00:30Z","created_by":"|1 A=b /bin/sh -c make"},
        {"created":"1970-01-01T00:00:40Z","created_by":"COPY trainer trainer # buildkit"},
        {"created":"1970-01-01T00:00:50.123456789Z","created_by":"RUN /bin/sh -c x # buildkit"},
        {"created_by":"RUN no time"},{"created":7},3]})",
      "a test's configuration");
  CHECK(configuration.run_times() == std::vector<std::int64_t>{20, 30, 50});
  CHECK(image::Configuration::parse(R"({"rootfs":{},"history":null})", "x").run_times().empty());
}

}  // namespace autopack::packaging_age_limit_test
