#include "base/error.hpp"
#include "base/json.hpp"
#include "support/image_files.hpp"
#include "verify/comparison.hpp"
#include "verify/layer_difference.hpp"
#include "verify/recorded.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace autopack::testing::verify_test {

namespace {

using verify::ComparedLayer;
using verify::Comparison;

const ImageContent only_a{{"a", "1"}};

/// An image in memory.
image::Source image_with(const std::vector<ImageContent>& layers,
                         const nlohmann::json& config = nlohmann::json::object()) {
  image::Source made{.name = "memory",
                     .digest = sha256("memory"),
                     .manifest = {.config = {.digest = sha256(config.dump())}}};
  nlohmann::json diff_ids = nlohmann::json::array();
  nlohmann::json history = nlohmann::json::array();
  std::map<Digest, std::string> blobs;
  for (const auto& layer : layers) {
    const auto bytes = tar_of(layer);
    const auto digest = sha256(bytes);
    blobs[digest] = bytes;
    diff_ids.push_back(digest.str());
    history.push_back({{"created_by", "step " + std::to_string(history.size())}});
    made.manifest.layers.push_back({.media_type = std::string{image::media_type::oci_plain_layer},
                                    .digest = digest,
                                    .size = bytes.size()});
  }
  made.configuration = print_json({{"os", "linux"},
                                   {"architecture", "amd64"},
                                   {"created", "1980-01-02T00:00:00Z"},
                                   {"config", config},
                                   {"history", history},
                                   {"rootfs", {{"type", "layers"}, {"diff_ids", diff_ids}}}});
  made.open = [blobs](const image::Descriptor& layer) { return reader_of(blobs.at(layer.digest)); };
  return made;
}

Comparison compare(const image::Source& image, const image::Source& rebuilt) {
  return verify::compare_images(Cancellation{}, image, rebuilt);
}

verify::LayerDifference difference(const ImageContent& image,
                                   const ImageContent& rebuilt,
                                   const verify::LayerLimits& limits = {}) {
  return verify::difference({.name = "layer", .reader = reader_of(tar_of(image))},
                            {.name = "other layer", .reader = reader_of(tar_of(rebuilt))},
                            Cancellation{}, limits);
}

}  // namespace

TEST_CASE("a rebuilt image with the same layers and configuration is equal") {
  const auto one = image_with({only_a, {{"b", "2"}}});
  const auto found = compare(one, one);
  CHECK_FALSE(found.differs());
  CHECK(verify::to_text(found) == "equal: 2 layers\n");
  CHECK(verify::to_json(found)["result"] == "equal");
}

TEST_CASE("the first file that differs is named, with its layer and all differing layers") {
  const auto found = compare(
      image_with({{{"same", "1"}}, {{"b", "changed"}, {"c", "2"}}, {{"d", "3"}, {"more", ""}}}),
      image_with({{{"same", "1"}}, {{"b", "planned"}, {"c", "2"}}, {{"d", "3"}}}));
  REQUIRE(found.layers.size() == 3);
  CHECK(found.differs());
  CHECK(found.layers[0].verdict == ComparedLayer::Verdict::equal);
  REQUIRE(found.layers[1].difference.files.size() == 1);
  CHECK(found.layers[1].difference.files[0].path == "b");
  CHECK(found.layers[1].difference.files[0].what == "its content");
  const auto text = verify::to_text(found);
  CHECK(text.find("differs: 2 of 3 layers\n") == 0);
  CHECK(text.find("layer 2 (step 1): 1 difference\n  b: its content\n") != std::string::npos);
  CHECK(text.find("  more: the rebuilt image does not have it\n") != std::string::npos);
  const auto json = verify::to_json(found);
  CHECK(json["layers"][0]["verdict"] == "equal");
  CHECK(json["layers"][1]["verdict"] == "differs");
  CHECK(json["layers"][1]["files"][0]["path"] == "b");
}

TEST_CASE("a layer that only one side has differs") {
  const auto one = image_with({only_a});
  const auto two = image_with({only_a, {{"b", "2"}}});
  CHECK(compare(two, one).layers[1].verdict == ComparedLayer::Verdict::additional);
  CHECK(compare(one, two).layers[1].verdict == ComparedLayer::Verdict::missing);
  CHECK(compare(one, two).differs());
}

TEST_CASE("a layer that another compressor compressed is equal, and that is said") {
  const auto rebuilt = image_with({only_a});
  auto image = rebuilt;
  image.manifest.layers[0].media_type = image::media_type::oci_layer;
  image.manifest.layers[0].digest = sha256("compressed otherwise");
  const auto found = compare(image, rebuilt);
  CHECK_FALSE(found.differs());
  CHECK(found.layers[0].verdict == ComparedLayer::Verdict::compressed);
  CHECK(verify::to_text(found) == "equal: 1 layer, 1 of them compressed otherwise\n");
}

TEST_CASE("a changed setting of the configuration differs") {
  const ImageContent layer{only_a};
  const auto found = compare(image_with({layer}, {{"Entrypoint", {"sh"}}, {"Env", {"A=1"}}}),
                             image_with({layer}, {{"Entrypoint", {"sh"}}, {"Env", {"A=2"}}}));
  CHECK(found.differs());
  CHECK(verify::to_text(found) ==
        "differs: 0 of 1 layer, and the configuration\nconfiguration: Env A is `1` instead of "
        "`2`\n");
}

TEST_CASE("an image without a label that older versions did not write is equal") {
  const ImageContent layer{only_a};
  const nlohmann::json label{{"Labels", {{"autopack.base-packages", "six"}}}};
  const nlohmann::json other{{"Labels", {{"autopack.base-packages", "idna"}}}};
  CHECK_FALSE(compare(image_with({layer}), image_with({layer}, label)).differs());
  CHECK(compare(image_with({layer}, label), image_with({layer})).differs());
  CHECK(compare(image_with({layer}, label), image_with({layer}, other)).differs());
}

TEST_CASE("layers are compared with limits") {
  const ImageContent large{{"a", std::string(1000, 'x')}};
  CHECK_THROWS_AS(difference(large, large, {.bytes = 999}), Error);
  const ImageContent many{{"a", ""}, {"b", ""}, {"c", ""}};
  CHECK_THROWS_AS(difference(many, many, {.entries = 2}), Error);
  const auto found = difference(many, {}, {.reported = 2});
  CHECK(found.count == 3);
  CHECK(found.files.size() == 2);
}

TEST_CASE("an image says how it was made") {
  const auto made = verify::recorded_in(image_with(
      {only_a}, {{"Labels",
                  {{"autopack.key", "k"},
                   {"org.opencontainers.image.base.name", "python:3.11"},
                   {"org.opencontainers.image.base.digest", "sha256:" + std::string(64, 'a')},
                   {"org.opencontainers.image.revision", std::string(40, '1')},
                   {"autopack.git.dirty", "false"}}}}));
  CHECK(made.platform == "linux/amd64");
  CHECK(made.base_name == "python:3.11");
  CHECK(made.base_digest.value().hex() == std::string(64, 'a'));
  CHECK(made.commit == std::string(40, '1'));
  CHECK_FALSE(made.is_dirty);
  CHECK(made.time == 315'619'200);
}

TEST_CASE("a revision that is not a commit's hash does not reach git") {
  const auto made = verify::recorded_in(
      image_with({}, {{"Labels",
                       {{"autopack.key", "k"},
                        {"org.opencontainers.image.revision", "--upload-pack=x"},
                        {"autopack.git.dirty", "false"}}}}));
  CHECK_FALSE(made.commit);
}

TEST_CASE("the revision of a base is not that of the image") {
  const auto made = verify::recorded_in(image_with(
      {},
      {{"Labels",
        {{"autopack.key", "k"}, {"org.opencontainers.image.revision", std::string(40, '1')}}}}));
  CHECK_FALSE(made.commit);
  CHECK(made.labels.empty());
}

TEST_CASE("an image of others is refused") {
  CHECK_THROWS_AS(verify::recorded_in(image_with({only_a})), Error);
}

}  // namespace autopack::testing::verify_test
