#include "base/error.hpp"
#include "google/artifact_registry.hpp"

#include <doctest/doctest.h>

namespace autopack::google_registry_login_test {

namespace {

struct Tokens final : google::TokenSource {
  google::AccessToken token() override { return {.token = Secret{text}}; }

  void expire() override { text = "fresh"; }

  std::string describe() const override { return "a test's token"; }

  std::optional<std::string> project() const override { return {}; }

  std::optional<std::string> quota_project() const override { return {}; }

  std::string text{"stale"};
};

}  // namespace

TEST_CASE("Google's registries, and no others, are given a token") {
  for (const char* host : {"europe-west4-docker.pkg.dev", "US-docker.pkg.dev",
                           "docker.europe-west4.rep.pkg.dev", "gcr.io", "eu.gcr.io"}) {
    CAPTURE(host);
    CHECK(google::is_google_registry(host));
  }
  for (const char* host :
       {"docker.io", "gcr.io.example.com", "notgcr.io", "docker.pkg.dev.example", "127.0.0.1:5000",
        "europe-west4-docker.pkg.dev:444", "evil-docker.pkg.dev@example.com", "pkg.dev", ""}) {
    CAPTURE(host);
    CHECK_FALSE(google::is_google_registry(host));
  }
  Tokens tokens;
  int asked = 0;
  const auto login = google::make_registry_login([&]() -> google::TokenSource& {
    ++asked;
    return tokens;
  });
  CHECK_FALSE(login("docker.io"));
  CHECK(asked == 0);
  const auto credential = login("gcr.io");
  REQUIRE(credential);
  CHECK(credential->username == "oauth2accesstoken");
  CHECK(credential->password.reveal() == "stale");
  CHECK(credential->origin == "a test's token");
  credential->forget();
  CHECK(login("eu.gcr.io")->password.reveal() == "fresh");
  CHECK(asked == 1);
}

TEST_CASE("without Google credentials a registry is asked without a login") {
  int asked = 0;
  const auto none = google::make_registry_login([&]() -> google::TokenSource& {
    ++asked;
    throw Error(ErrorKind::environment, "no Google credentials were found");
  });
  CHECK_FALSE(none("gcr.io"));
  CHECK_FALSE(none("gcr.io"));
  CHECK(asked == 1);
  const auto broken = google::make_registry_login(
      []() -> google::TokenSource& { throw Error(ErrorKind::usage, "the file does not exist"); });
  CHECK_THROWS_WITH_AS(broken("gcr.io"), "the file does not exist", Error);
}

}  // namespace autopack::google_registry_login_test
