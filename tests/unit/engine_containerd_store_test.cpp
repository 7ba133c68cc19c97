#include "engine/docker.hpp"
#include "executor/probe.hpp"
#include "support/loopback_server.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace autopack::engine_containerd_store_test {

using testing::LoopbackServer;
using testing::ReceivedRequest;
using testing::Reply;

namespace {

const std::string id = "sha256:" + std::string(64, 'a');

/// A Docker Engine 29: every name of an image is in RepoDigests, ids are digests of manifests, and
/// no registry is reachable.
class Engine29 {
public:
  explicit Engine29(int minor) : minor_{minor} {
    docker = engine::make_docker({.endpoint = {.url = server.url()}, .client = client.get()});
  }

  int asked(const std::string& part) const {
    const auto all = server.requests();
    return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const auto& request) {
      return request.target.find(part) != std::string::npos;
    }));
  }

private:
  Reply answer(const ReceivedRequest& request) const {
    const auto is = [&](const std::string& part) {
      return request.target.find(part) != std::string::npos;
    };
    if (request.target == "/_ping") {
      return {.headers = {{"Api-Version", fmt::format("1.{}", minor_)}, {"Ostype", "linux"}}};
    }
    if (is("/version")) {
      return {.body = R"({"Version":"29.0.0","Os":"linux","Arch":"amd64"})"};
    }
    if (is("/distribution/")) {
      return {.status = 500,
              .body = R"({"message":"dial tcp: lookup registry-1.docker.io: no such host"})"};
    }
    if (is("/images/") && is("/json")) {
      const auto* identity = is("/v1.53/") ? R"("Identity":{"Build":[{"Ref":"x"}]},)" : "";
      return {.body = fmt::format(
                  R"({{"Id":"{0}",{1}"RepoTags":["my/base:1"],"RepoDigests":["my/base@{0}"],)"
                  R"("Os":"linux","Architecture":"amd64","GraphDriver":{{"Data":null,)"
                  R"("Name":"overlayfs"}},"Config":{{}},"RootFS":{{"Layers":["{0}"]}}}})",
                  id, identity)};
    }
    if (is("/containers/create")) {
      return {.status = 201, .body = R"({"Id":"c"})"};
    }
    return {.status = is("/archive") ? 404 : 200, .body = "[]"};
  }

  int minor_;

public:
  LoopbackServer server{[this](const ReceivedRequest& request) { return answer(request); }};
  std::unique_ptr<http::Client> client{http::make_client({})};
  std::unique_ptr<engine::Docker> docker;
};

}  // namespace

TEST_CASE("an executor image that only a Docker Engine 29 has is found there") {
  for (const int minor : {52, 53}) {
    CAPTURE(minor);
    const Engine29 engine{minor};
    const auto reference = image::Reference::parse("my/base:1");
    const auto image = engine.docker->inspect("my/base:1");
    REQUIRE(image);
    CHECK(image->id_is_manifest);
    CHECK_FALSE(engine.docker->held("my/base:1"));
    const auto facts = executor::probe_base(*engine.docker, reference, "linux/amd64");
    CHECK_FALSE(facts.digest);
    CHECK(facts.image_id == id);
    // From 1.53 on the engine reports that it built the image, so no registry is asked.
    CHECK(engine.asked("/distribution/") == (minor < 53 ? 1 : 0));
    {
      const executor::BuildBase base{*engine.docker, facts};
      CHECK(base.from().ends_with("@" + id));
    }
    CHECK(engine.asked("/tag?repo=localhost") == 1);
  }
}

TEST_CASE("facts that were read in containerd's store hold for an engine with another store") {
  LoopbackServer server{[](const ReceivedRequest& request) {
    if (request.target == "/_ping") {
      return Reply{.headers = {{"Api-Version", "1.41"}, {"Ostype", "linux"}}};
    }
    if (request.target.find("/images/") != std::string::npos) {
      return Reply{.body = fmt::format(R"({{"Id":"sha256:{}","Os":"linux","Architecture":"amd64",)"
                                       R"("GraphDriver":{{"Name":"overlay2"}},"Config":{{}}}})",
                                       std::string(64, 'c'))};
    }
    return Reply{.body = R"({"Version":"20.10","Os":"linux","Arch":"amd64"})"};
  }};
  const auto client = http::make_client({});
  const auto docker =
      engine::make_docker({.endpoint = {.url = server.url()}, .client = client.get()});
  image::BaseFacts facts{.reference = "my/base:1",
                         .digest = Digest::parse(id),
                         .image_id = id,
                         .platform = "linux/amd64"};
  CHECK(executor::image_in_engine(*docker, facts));
  facts.platform = "linux/arm64";
  CHECK_FALSE(executor::image_in_engine(*docker, facts));
  facts.platform = "linux/amd64";
  facts.digest.reset();
  CHECK_FALSE(executor::image_in_engine(*docker, facts));
}

}  // namespace autopack::engine_containerd_store_test
