#include "base/digest.hpp"
#include "base/json.hpp"
#include "compare/contents.hpp"
#include "compare/difference.hpp"
#include "support/image_files.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace autopack::testing::compare_test {

namespace {

using compare::Contents;

/// An image of plain layers, and the services to read it.
struct Images {
  image::Source source(const std::string& name,
                       const std::vector<ImageContent>& layers,
                       const nlohmann::json& config = nlohmann::json::object()) {
    image::Source made{.name = name,
                       .digest = sha256(name),
                       .manifest = {.config = {.digest = sha256(config.dump())}}};
    nlohmann::json diff_ids = nlohmann::json::array();
    for (const auto& layer : layers) {
      const auto bytes = tar_of(layer);
      const auto digest = sha256(bytes);
      blobs[digest] = bytes;
      diff_ids.push_back(digest.str());
      made.manifest.layers.push_back({.media_type = std::string{image::media_type::oci_plain_layer},
                                      .digest = digest,
                                      .size = bytes.size()});
    }
    made.configuration = print_json({{"os", "linux"},
                                     {"architecture", "amd64"},
                                     {"config", config},
                                     {"rootfs", {{"type", "layers"}, {"diff_ids", diff_ids}}}});
    made.open = [this](const image::Descriptor& layer) {
      ++opened;
      return reader_of(blobs.at(layer.digest));
    };
    return made;
  }

  Contents read(const image::Source& source,
                const std::set<Digest>& unread = {},
                const compare::ReadingLimits& limits = {}) const {
    return compare::read_image(cancellation, source, unread, limits);
  }

  Cancellation cancellation{};
  std::map<Digest, std::string> blobs{};
  int opened{0};
};

std::map<std::string, std::string> signs(const compare::Difference& difference) {
  std::map<std::string, std::string> all;
  for (const auto& change : difference.files) {
    all[change.name] = !change.before ? "+" : !change.after ? "-" : "~";
  }
  return all;
}

}  // namespace

TEST_CASE("images are compared by the files that their layers leave") {
  Images images;
  const ImageContent base{{"etc/base", "b"}, {"etc/gone", "g"}, {"etc/link", "-> base"}};
  const auto before = images.source("a", {base, {{"usr/app/a.py", "1"}, {"usr/app/b.py", "2"}}});
  const auto after = images.source(
      "b", {base,
            {{"usr/app/a.py", "1"}, {"usr/app/b.py", "changed"}, {"usr/app/c.py", "3"}},
            {{"etc/.wh.gone", ""}, {"etc/link", "-> other"}}});
  const auto whole = compare::difference(images.read(before), images.read(after));
  CHECK(signs(whole) ==
        std::map<std::string, std::string>{
            {"usr/app/b.py", "~"}, {"usr/app/c.py", "+"}, {"etc/gone", "-"}, {"etc/link", "~"}});
  CHECK(whole.shared_layers == 1);
  images.opened = 0;
  const std::set<Digest> shared{before.manifest.layers[0].digest};
  const auto first = images.read(before, shared);
  const auto second = images.read(after, shared);
  CHECK(images.opened == 3);
  CHECK(second.unread_layers == 1);
  // The contents of lower layers are unknown: a file that is replaced there counts as new.
  CHECK(signs(compare::difference(first, second)) ==
        std::map<std::string, std::string>{
            {"usr/app/b.py", "~"}, {"usr/app/c.py", "+"}, {"etc/gone", "-"}, {"etc/link", "+"}});
}

TEST_CASE("packages are found by their metadata, and removed ones are reported") {
  Images images;
  const std::string site = "usr/lib/python3/site-packages/";
  const ImageContent base{{site + "old-1.0.dist-info/METADATA", "m"},
                          {site + "kept-1.0.dist-info/METADATA", "m"}};
  const auto before = images.source("a", {base});
  const auto after = images.source(
      "b",
      {base, {{site + ".wh.old-1.0.dist-info", ""}, {site + "Old-2.0.dist-info/METADATA", "m"}}});
  const std::set<Digest> shared{before.manifest.layers[0].digest};
  for (const auto& unread : {std::set<Digest>{}, shared}) {
    const auto found = compare::difference(images.read(before, unread), images.read(after, unread));
    REQUIRE(found.packages.size() == 1);
    CHECK(found.packages[0].name == "old");
    CHECK(found.packages[0].before == "1.0");
    CHECK(found.packages[0].after == "2.0");
  }
}

TEST_CASE("rows of the configuration are compared one by one") {
  Images images;
  const auto before = images.source("a", {}, {{"Env", {"A=1", "B=2"}}, {"User", "me"}});
  const auto after = images.source("b", {}, {{"Env", {"B=3", "A=1"}}, {"Labels", {{"x", "y"}}}});
  const auto found = compare::difference(images.read(before), images.read(after));
  std::vector<std::string> names;
  for (const auto& change : found.configuration) {
    names.push_back(change.name);
  }
  CHECK(names == std::vector<std::string>{"Env B", "Labels x", "User"});
  const auto text = compare::to_text(found, images.read(before), images.read(after), 2);
  CHECK(text.find("  ~ Env B  2 -> 3\n") != std::string::npos);
  CHECK(text.find("  and 1 more") != std::string::npos);
}

TEST_CASE("an image beyond the limits is refused, and a layer that is another than it says") {
  Images images;
  const auto large = images.source("a", {{{"a", "12345"}, {"b", "12345"}}});
  CHECK_THROWS_WITH_AS(images.read(large, {}, {.bytes = 9}),
                       "layer 1 of `a` is too large to be compared", Error);
  CHECK_THROWS_AS(images.read(large, {}, {.entries = 1}), Error);
  images.blobs[large.manifest.layers[0].digest] = tar_of({{"a", "other"}});
  CHECK_THROWS_AS(images.read(large), Error);
}

}  // namespace autopack::testing::compare_test
