#include "publish/engine.hpp"
#include "support/fake_docker.hpp"
#include "support/fake_google.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace autopack::publish_engine_test {

using autopack::testing::CountingTokens;
using autopack::testing::FakeDocker;
using autopack::testing::RecordingReporter;

namespace {

constexpr auto* repository = "europe-west4-docker.pkg.dev/my-project/autopack/app";

/// Artifact Registry with at most one repository: its registry and the API that creates it.
class ArtifactRegistry final : public http::Client {
public:
  http::Response send(const http::Request& request) override {
    asked.push_back(request.method + " " + request.url.substr(0, request.url.find('?')));
    if (request.url.starts_with("https://artifactregistry.googleapis.com/")) {
      const bool makes = request.method == "POST";
      exists = exists || makes;
      return makes    ? http::Response{.status = 200, .body = R"({"name":"o","done":true})"}
             : exists ? http::Response{.status = 200, .body = R"({"name":"x","format":"DOCKER"})"}
                      : http::Response{.status = 404, .body = R"({"error":{"code":404}})"};
    }
    if (breaks) {
      throw http::TransportError{http::TransportError::Reason::resolve, "no such host"};
    }
    if (request.method == "POST" && !exists) {
      return {.status = 404, .body = R"({"errors":[{"code":"NAME_UNKNOWN","message":"no"}]})"};
    }
    return {.status = request.method == "POST" ? 202 : 200,
            .headers = {{"Location", "/up"}, {"Docker-Distribution-Api-Version", "registry/2.0"}}};
  }

  std::unique_ptr<http::Stream> upgrade(const http::Request&) override {
    throw std::runtime_error{"no upgrade is expected"};
  }

  bool exists{false};
  bool breaks{false};
  std::vector<std::string> asked{};
};

struct Push {
  Push() {
    docker.on_push = [this](const image::Reference&) -> Digest {
      if (!registry.exists || refuses_all) {
        throw Error(ErrorKind::remote, "could not push").cause("words of an engine");
      }
      return sha256("pushed");
    };
  }

  Digest run(bool is_default = true) {
    ServiceMakers makers;
    makers.client = [this](const Cancellation*) {
      return std::shared_ptr<http::Client>{std::shared_ptr<void>{}, &registry};
    };
    makers.docker = [this] {
      return std::shared_ptr<engine::Docker>{std::shared_ptr<void>{}, &docker};
    };
    makers.artifact_registry = [this] {
      return google::ArtifactRegistryOptions{
          .caller = {.client = &registry, .credentials = &tokens}, .sleep = [](auto) {}};
    };
    Services services{Environment{{{"HOME", home.path().string()}}}, reporter, nullptr,
                      std::move(makers)};
    const auto name = image::Reference::parse(repository);
    return publish::push_with_engine(services, {.reference = name, .is_default = is_default},
                                     image::Reference::parse(std::string{repository} + ":ap-1"))
        .digest;
  }

  std::size_t pushes() const { return docker.calls.size(); }

  TemporaryDirectory home;
  ArtifactRegistry registry;
  FakeDocker docker;
  CountingTokens tokens;
  RecordingReporter reporter;
  bool refuses_all{false};
};

}  // namespace

TEST_CASE("a repository that the registry lacks is made after an engine's push, whatever it said") {
  Push push;
  CHECK(push.run() == sha256("pushed"));
  CHECK(push.pushes() == 2);
  CHECK(push.reporter.lines ==
        std::vector<std::string>{
            "Created repository projects/my-project/locations/europe-west4/repositories/autopack"});
}

TEST_CASE("an engine's refusal is reported if no repository is missing") {
  Push push;
  bool is_default = true;
  SUBCASE("of one that exists") {
    push.registry.exists = true;
    push.refuses_all = true;
  }
  SUBCASE("of one that the user named: nobody is asked") {
    is_default = false;
  }
  SUBCASE("of a registry that does not answer") {
    push.registry.breaks = true;
  }
  CHECK_THROWS_WITH_AS(push.run(is_default), "could not push", Error);
  CHECK(push.pushes() == 1);
  CHECK(push.reporter.lines.empty());
  CHECK((is_default || push.registry.asked.empty()));
}

TEST_CASE("after an engine's push that worked nobody is asked") {
  Push push;
  push.registry.exists = true;
  CHECK(push.run() == sha256("pushed"));
  CHECK(push.registry.asked.empty());
}

}  // namespace autopack::publish_engine_test
