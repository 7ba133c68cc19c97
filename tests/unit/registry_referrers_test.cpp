#include "base/json.hpp"
#include "registry/referrers.hpp"
#include "support/memory_registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace autopack::registry_referrers_test {

namespace {

using registry::attach;
using registry::Attachment;
using registry::find_referrers;
using registry::read_attachment;

constexpr auto* bom_type = "application/spdx+json";

/// A registry with one image.
struct Scene {
  testing::MemoryRegistry server;
  std::string digest = server.add_image("team/app", "v1", R"({"rootfs":{}})", "layer");
  std::unique_ptr<registry::Repository> repository = registry::make_repository(
      "registry.example:5000", "team/app", registry::Access::push, {.client = &server});
  image::Descriptor image = repository->head_manifest("v1").value();

  explicit Scene(bool has_referrers) : server{has_referrers} {}
};

Attachment bom(const std::string& bytes) {
  return {.artifact_type = bom_type,
          .media_type = bom_type,
          .bytes = bytes,
          .annotations = {{"kind", "test"}}};
}

}  // namespace

TEST_CASE("a document is attached to an image and found again, with and without the API") {
  for (const bool has_api : {false, true}) {
    CAPTURE(has_api);
    Scene scene{has_api};
    CHECK(find_referrers(*scene.repository, scene.image.digest).empty());
    const auto one = attach(*scene.repository, scene.image, bom("one"));
    const auto two = attach(*scene.repository, scene.image, bom("two"));
    CHECK(attach(*scene.repository, scene.image, bom("one")) == one);
    const auto found = find_referrers(*scene.repository, scene.image.digest);
    REQUIRE(found.size() == 2);
    std::vector<std::string> texts;
    for (const auto& referrer : found) {
      CHECK(referrer.artifact_type == bom_type);
      CHECK(referrer.manifest.annotations.at("kind") == "test");
      texts.push_back(read_attachment(*scene.repository, referrer));
    }
    std::ranges::sort(texts);
    CHECK(texts == std::vector<std::string>{"one", "two"});
    CHECK(two != one);
    const auto tag = "sha256-" + scene.image.digest.hex();
    CHECK(scene.server.manifest("team/app", tag).empty() == has_api);
  }
}

TEST_CASE("the manifest of a document has the form of OCI 1.1") {
  Scene scene{true};
  const auto manifest = parse_json(scene.server.manifest(
      "team/app", attach(*scene.repository, scene.image, bom("one")).digest.str()));
  CHECK(manifest["artifactType"] == bom_type);
  CHECK(manifest["config"]["mediaType"] == "application/vnd.oci.empty.v1+json");
  CHECK(scene.server.blob(text_at(manifest["config"], "digest")) == "{}");
  CHECK(manifest["subject"]["digest"] == scene.digest);
  CHECK(manifest["subject"]["size"] == scene.image.size);
}

TEST_CASE("a damaged list of documents is refused, and unusable entries are skipped") {
  using registry::parse_referrers;
  for (const auto* text : {"", "[]", "{}", R"({"manifests":{}})"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_referrers(text, "the list"), Error);
  }
  const auto entries =
      parse_referrers(R"({"manifests":[1,{"digest":"md5:1","size":1},{"digest":")" +
                          sha256("x").str() + R"(","size":-1},{"digest":")" + sha256("y").str() +
                          R"(","size":3,"artifactType":7,"annotations":{"a":1,"b":"c"}}]})",
                      "the list");
  REQUIRE(entries.size() == 1);
  CHECK(entries.front().manifest.size == 3);
  CHECK(entries.front().artifact_type.empty());
  CHECK(entries.front().manifest.annotations == std::map<std::string, std::string>{{"b", "c"}});
}

}  // namespace autopack::registry_referrers_test
