#include "base/json.hpp"
#include "base/text.hpp"
#include "google/artifact_registry.hpp"
#include "support/fake_http.hpp"

#include <doctest/doctest.h>

namespace autopack::google_artifact_registry_test {

using autopack::testing::answer;
using autopack::testing::FakeHttp;
using nlohmann::json;
using Reason = http::TransportError::Reason;
using namespace std::chrono_literals;

namespace {

const google::RepositoryName wanted{
    .project = "example.com:p", .location = "us-central1", .repository = "autopack"};
constexpr auto api = "https://artifactregistry.googleapis.com/v1/";
constexpr auto name = "projects/example.com:p/locations/us-central1/repositories/autopack";
constexpr auto running =
    R"({"name": "projects/p/locations/us-central1/operations/1a", "metadata": {}})";
constexpr auto done =
    R"({"name": "projects/p/locations/us-central1/operations/1a", "done": true, "response": {}})";
constexpr auto docker = R"({"name": "x", "format": "DOCKER", "mode": "STANDARD_REPOSITORY"})";

class FixedToken final : public google::TokenSource {
public:
  google::AccessToken token() override { return {.token = Secret{"s3cr3t-value"}}; }

  void expire() override {}

  std::string describe() const override { return "test"; }

  std::optional<std::string> project() const override { return {}; }

  std::optional<std::string> quota_project() const override { return {}; }
};

struct Fixture {
  FixedToken tokens{};
  FakeHttp client;
  Cancellation cancellation{};
  std::vector<std::chrono::milliseconds> waits{};

  explicit Fixture(std::vector<FakeHttp::Answer> answers) : client{std::move(answers)} {}

  google::Ensured ensure(const std::optional<std::string>& endpoint = {}) {
    return google::ensure_repository({.caller = {.client = &client, .credentials = &tokens},
                                      .endpoint_override = endpoint,
                                      .cancellation = &cancellation,
                                      .sleep = [this](auto time) { waits.push_back(time); }},
                                     wanted);
  }
};

std::string all_text(const Error& error) {
  return error.message() + "\n" + join(error.causes(), "\n") + "\n" + join(error.hints(), "\n");
}

}  // namespace

TEST_CASE("the repository of an image name") {
  const auto of = [](const char* text) {
    const auto found = google::repository_of(image::Reference::parse(text));
    return found ? found->str() : "";
  };
  CHECK(of("us-central1-docker.pkg.dev/p/autopack/job") ==
        "projects/p/locations/us-central1/repositories/autopack");
  CHECK(of("europe-docker.pkg.dev/p/r/a/b/c:tag") == "projects/p/locations/europe/repositories/r");
  CHECK(of("us-central1-docker.pkg.dev/example.com/p/autopack/job") == name);
  CHECK(of("docker.europe-west1.rep.pkg.dev/p/r/i") ==
        "projects/p/locations/europe-west1/repositories/r");
  CHECK(of("us-central1-docker.pkg.dev/p/r").empty());
  CHECK(of("gcr.io/p/r/i").empty());
  CHECK(of("evil-docker.pkg.dev.example.com/p/r/i").empty());
  CHECK(of("docker.rep.pkg.dev/p/r/i").empty());
}

TEST_CASE("a repository that exists is looked at and left alone") {
  Fixture fixture{{answer(200, docker)}};
  CHECK(fixture.ensure() == google::Ensured::existed);
  REQUIRE(fixture.client.requests.size() == 1);
  CHECK(fixture.client.requests[0].method == "GET");
  CHECK(fixture.client.requests[0].url == std::string{api} + name);
}

TEST_CASE("a missing repository is created and its operation awaited") {
  Fixture fixture{{answer(404, ""), answer(200, running), answer(200, running), answer(503, ""),
                   answer(200, done)}};
  CHECK(fixture.ensure("http://127.0.0.1:1/") == google::Ensured::created);
  const auto& create = fixture.client.requests.at(1);
  CHECK(create.method == "POST");
  CHECK(create.url ==
        "http://127.0.0.1:1/v1/projects/example.com:p/locations/us-central1/"
        "repositories?repositoryId=autopack");
  const auto body = parse_json(create.body);
  CHECK(body["format"] == "DOCKER");
  CHECK(body["mode"] == "STANDARD_REPOSITORY");
  CHECK(fixture.client.requests.at(2).url ==
        "http://127.0.0.1:1/v1/projects/p/locations/us-central1/operations/1a");
  REQUIRE(fixture.waits.size() == 3);
  CHECK(fixture.waits[0] >= 250ms);
  CHECK(fixture.waits[0] < 500ms);
  CHECK(fixture.waits[1] >= 500ms);
  CHECK(fixture.waits[1] < 1000ms);
  CHECK(fixture.waits[2] >= 250ms);
  CHECK(fixture.waits[2] < 500ms);
}

TEST_CASE("somebody else made the repository meanwhile") {
  Fixture fixture{{answer(404, ""), Reason::reset, answer(409, ""), answer(200, docker)}};
  CHECK(fixture.ensure() == google::Ensured::existed);
}

TEST_CASE("an operation that never ends is given up, and one that is interrupted stops") {
  std::vector<FakeHttp::Answer> answers{answer(404, "")};
  answers.insert(answers.end(), 100, answer(200, running));
  Fixture endless{answers};
  CHECK_THROWS_WITH(static_cast<void>(endless.ensure()),
                    ("could not create repository `" + std::string{name} + "`").c_str());
  CHECK(endless.client.requests.size() > 60);

  Fixture stopped{answers};
  stopped.cancellation.requested = true;
  CHECK_THROWS_WITH(static_cast<void>(stopped.ensure()), "interrupted");
  CHECK(stopped.client.requests.size() == 2);
}

TEST_CASE("answers that leave no repository to push to") {
  struct Case {
    std::vector<FakeHttp::Answer> answers{};
    const char* fragment{};
    ErrorKind kind{ErrorKind::remote};
  };

  const auto disabled = answer(
      403,
      R"({"error": {"code": 403, "message": "Artifact Registry API has not been used in project p before or it is disabled.", "status": "PERMISSION_DENIED", "details": [{"reason": "SERVICE_DISABLED"}]}})");
  const auto denied = answer(
      403,
      R"({"error": {"code": 403, "message": "Permission 'artifactregistry.repositories.create' denied", "status": "PERMISSION_DENIED"}})");
  for (
      const auto& [answers, fragment, kind] : {
          Case{
              {answer(200, R"({"format": "PYTHON"})")}, "its format is `PYTHON`", ErrorKind::usage},
          Case{{answer(200, "{}")}, "its format is ``", ErrorKind::usage},
          Case{{answer(200, R"({"format": "DOCKER", "mode": "REMOTE_REPOSITORY"})")},
               "does not accept pushes",
               ErrorKind::usage},
          Case{{answer(200, "<html>")}, "the response is not a JSON object"},
          Case{{disabled}, "gcloud services enable artifactregistry.googleapis.com"},
          Case{{answer(404, ""), denied},
               "gcloud artifacts repositories create autopack --repository-format=docker "
               "--location=us-central1 --project=example.com:p"},
          Case{{answer(404, ""), answer(404, R"({"error": {"message": "no such location"}})")},
               "gcloud artifacts locations list"},
          Case{{answer(404, ""), answer(200, "{}")}, "the response has no operation"},
          Case{{answer(404, ""), answer(200, R"({"name": "projects/../../x?y"})")},
               "the response has no operation"},
          Case{{answer(404, ""), answer(200, R"({"name": 5, "done": "yes"})")},
               "the response has no operation"},
          Case{
              {answer(404, ""),
               answer(
                   200,
                   R"({"name": "projects/p/operations/1", "done": true, "error": {"code": 8, "message": "Quota exceeded"}})")},
              "Quota exceeded"},
          Case{{answer(500, ""), answer(500, ""), answer(500, ""), answer(500, "")}, "500"},
      }) {
    const auto& shown = fragment;
    CAPTURE(shown);
    Fixture fixture{answers};
    try {
      static_cast<void>(fixture.ensure());
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.kind() == kind);
      CHECK(all_text(error).find(fragment) != std::string::npos);
      CHECK(all_text(error).find("s3cr3t-value") == std::string::npos);
    }
  }
}

}  // namespace autopack::google_artifact_registry_test
