#include "job/resource_names.hpp"

#include <doctest/doctest.h>

#include <string>

namespace autopack::job_resource_names_test {

using namespace autopack::job;

TEST_CASE("A name fits a form part by part, and its region is found") {
  constexpr auto* form = "projects/PROJECT/locations/REGION/tensorboards/ID";
  CHECK(match_name("projects/p/locations/us-central1/tensorboards/7", form)->region ==
        "us-central1");
  CHECK_FALSE(match_name("projects/p/locations/us-central1/tensorboards/", form));
  CHECK_FALSE(match_name("projects//locations/us-central1/tensorboards/7", form));
  CHECK_FALSE(match_name("projects/p/locations/us-central1/tensorboards/7/8", form));
  CHECK_FALSE(match_name("projects/p/places/us-central1/tensorboards/7", form));
  CHECK(match_name("projects/12/global/networks/n", "projects/NUMBER/global/networks/NAME"));
  CHECK_FALSE(match_name("projects/one/global/networks/n", "projects/NUMBER/global/networks/NAME"));
}

TEST_CASE("Names that the service takes, however long they are") {
  CHECK(is_project_id("my-project-1"));
  CHECK(is_project_id("example.com:my-project"));
  for (const auto* text : {"", "My-project", "a_b", ":p", "d:", "a:b:c", "a/b", "a b"}) {
    CHECK_FALSE(is_project_id(text));
  }
  CHECK(is_region_form("us-central1"));
  CHECK(is_region_form("us"));
  for (const auto* text : {"", "-a", "a-", "a--b", "us1-a", "US-central1", "us-central_1"}) {
    CHECK_FALSE(is_region_form(text));
  }
  CHECK(is_service_account("name@project.iam.gserviceaccount.com"));
  CHECK(is_service_account("123"));
  for (const auto* text : {"", "name", "@a.b", "a@b", "a@.b", "a@b.", "a@b@c.d"}) {
    CHECK_FALSE(is_service_account(text));
  }
  CHECK(is_bucket_uri("gs://bucket"));
  CHECK(is_bucket_uri("gs://bucket/path/to"));
  for (const auto* text : {"", "gs://", "gs:///path", "s3://bucket", "bucket"}) {
    CHECK_FALSE(is_bucket_uri(text));
  }
  CHECK(is_model_id("_model-1"));
  CHECK(is_model_id(std::string(63, 'm')));
  for (const auto& text : {std::string{}, std::string{"1m"}, std::string{"-m"}, std::string{"M"},
                           std::string(64, 'm')}) {
    CHECK_FALSE(is_model_id(text));
  }
  std::string parts;
  for (int i = 0; i < 100'000; ++i) {
    parts += "a-";
  }
  CHECK(is_region_form(parts + "a"));
  CHECK(is_project_id(parts));
  CHECK_FALSE(match_name(std::string(200'000, '/'), "projects/PROJECT"));
}

TEST_CASE("Times are those of RFC 3339") {
  CHECK(is_timestamp("2026-11-20T12:00:00Z"));
  CHECK(is_timestamp("2026-11-20T23:59:59.123456789+01:00"));
  CHECK(is_timestamp("2026-11-20T00:00:00-08:30"));
  for (const auto* text :
       {"", "2026-11-20", "2026-13-20T12:00:00Z", "2026-00-20T12:00:00Z", "2026-11-32T12:00:00Z",
        "2026-11-20T24:00:00Z", "2026-11-20T12:60:00Z", "2026-11-20T12:00:60Z",
        "2026-11-20T12:00:00", "2026-11-20T12:00:00.Z", "2026-11-20T12:00:00.1234567890Z",
        "2026-11-20 12:00:00Z", "2026-11-20T12:00:00+0100", "2026-11-20T12:00:00Zx"}) {
    CHECK_FALSE(is_timestamp(text));
  }
}

}  // namespace autopack::job_resource_names_test
