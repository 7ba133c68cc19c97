#include "base/error.hpp"
#include "pipeline/image_name.hpp"

#include <doctest/doctest.h>

namespace autopack::pipeline::pipeline_image_name_test {

TEST_CASE("an image without a name goes to the project's registry, or stays in the docker engine") {
  const auto there =
      name_image(std::nullopt, "My Job #1", {.project = "p", .region = "europe-west4"});
  CHECK(there.reference.repository() == "europe-west4-docker.pkg.dev/p/autopack/my.job.1");
  CHECK_FALSE(there.reference.tag);
  CHECK(there.has_registry);
  CHECK(there.is_default);

  const auto domain =
      name_image(std::nullopt, "x", {.project = "example.com:p", .region = "us-central1"});
  CHECK(domain.reference.repository() == "us-central1-docker.pkg.dev/example.com/p/autopack/x");

  for (const auto& location : {job::Location{}, job::Location{.project = "p"}}) {
    const auto here = name_image(std::nullopt, "x", location);
    CHECK(here.reference.repository() == "autopack/x");
    CHECK_FALSE(here.has_registry);
  }
}

TEST_CASE("the user's name and tag are kept, a digest is refused") {
  const auto name = name_image("127.0.0.1:5000/team/model:v1", "x", {});
  CHECK(name.reference.tag == "v1");
  CHECK(name.has_registry);
  CHECK_FALSE(name.is_default);
  CHECK_THROWS_AS(name_image("gcr.io/p/m@" + sha256("").str(), "x", {}), Error);
  CHECK_THROWS_AS(name_image("gcr.io/p/Model", "x", {}), Error);
  CHECK_FALSE(name_image("model:v1", "x", {}).has_registry);
}

}  // namespace autopack::pipeline::pipeline_image_name_test
