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

TEST_CASE("the word REGION in a name is the region of the job") {
  using job::with_region;
  CHECK(with_region("REGION-docker.pkg.dev/p/r/i:t", "us-east1") ==
        "us-east1-docker.pkg.dev/p/r/i:t");
  CHECK(with_region("host/REGION/i:REGION", "a") == "host/a/i:a");
  CHECK(with_region("host/MYREGION/i:REGION1", "a") == "host/MYREGION/i:REGION1");
  CHECK(with_region("", "a").empty());
  const std::string pattern = "REGION-docker.pkg.dev/p/r/i";
  const job::Location east{.project = "p", .region = "us-east1"};
  CHECK(name_image(pattern, "", east).reference.repository() == "us-east1-docker.pkg.dev/p/r/i");
  CHECK_THROWS_WITH_AS(name_image(pattern, "", {}), doctest::Contains("no region is set"), Error);
  const std::string digest = "sha256:" + std::string(64, 'a');
  const auto uri = "us-east1-docker.pkg.dev/p/r/i@" + digest;
  CHECK(image_in_region(uri, pattern, east, "us-west1") ==
        "us-west1-docker.pkg.dev/p/r/i@" + digest);
  CHECK(image_in_region(uri, "other/i", east, "us-west1") == uri);
  CHECK(image_in_region(uri, std::nullopt, east, "us-west1") == uri);
}

}  // namespace autopack::pipeline::pipeline_image_name_test
