#include "base/error.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "image/layer.hpp"
#include "image/manifest.hpp"

#include <doctest/doctest.h>

namespace autopack::image_manifest_test {

using namespace autopack::image;

namespace {

std::string gunzip(const std::string& bytes) {
  const auto result = run_process({"gzip", "-dc"}, bytes);
  REQUIRE(result);
  REQUIRE(result->status == 0);
  return result->output;
}

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 1;
  for (char& c : text) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>('a' + (state >> 28U));
  }
  return text;
}

LayerFacts compress(const std::string& text, std::size_t piece, std::string& out) {
  LayerWriter writer{[&](std::string_view bytes) { out += bytes; }};
  for (std::size_t at = 0; at < text.size(); at += piece) {
    writer.write(std::string_view{text}.substr(at, piece));
  }
  return writer.finish();
}

}  // namespace

TEST_CASE("a layer is the same bytes however its tar comes") {
  for (const std::size_t size : {0U, 1U, 1U << 20U, (1U << 20U) + 1, 5'000'000U}) {
    CAPTURE(size);
    const std::string text = pattern(size);
    std::string whole;
    std::string pieces;
    const auto facts = compress(text, size + 1, whole);
    compress(text, 100'000, pieces);
    CHECK(whole == pieces);
    CHECK(gunzip(whole) == text);
    CHECK(facts.digest == sha256(whole));
    CHECK(facts.diff_id == sha256(text));
    CHECK(facts.size == whole.size());
    CHECK(facts.tar_size == size);
  }
}

TEST_CASE("an exception of the sink leaves the layer writer") {
  LayerWriter writer{[](std::string_view) { throw Error(ErrorKind::remote, "gone"); }};
  CHECK_THROWS_AS(writer.write(pattern(20'000'000)), Error);
}

TEST_CASE("manifests of both kinds are read and written") {
  const std::string digest = sha256("x").str();
  const std::string text =
      R"({"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.v2+json","config":{"mediaType":"application/vnd.docker.container.image.v1+json","digest":")" +
      digest +
      R"(","size":7},"layers":[{"mediaType":"application/vnd.docker.image.rootfs.diff.tar.gzip","digest":")" +
      digest + R"(","size":9}]})";
  const auto manifest = parse_manifest(text, "the manifest");
  CHECK_FALSE(manifest.is_oci());
  CHECK(manifest.layers.at(0).size == 9);
  CHECK(to_json(manifest) == text);
  auto without_type = autopack::parse_json(text);
  without_type.erase("mediaType");
  without_type["config"]["mediaType"] = media_type::oci_config;
  CHECK(parse_manifest(without_type.dump(), "the manifest").is_oci());
}

TEST_CASE("an invalid manifest is refused by name") {
  for (const char* text :
       {"", "[]", "{}", R"({"schemaVersion":1,"fsLayers":[]})",
        R"({"schemaVersion":2,"config":{"digest":"md5:1","size":1},"layers":[]})",
        R"({"schemaVersion":2,"config":{"digest":5},"layers":[]})"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(parse_manifest(text, "the manifest of `a/b`"), doctest::Contains("`a/b`"),
                         Error);
    CHECK_FALSE(is_index(text));
  }
}

TEST_CASE("an index gives the image of a platform") {
  const std::string digest = sha256("x").str();
  const auto entry = [&](const std::string& platform) {
    return R"({"digest":")" + digest + R"(","size":1,"platform":)" + platform + "}";
  };
  const std::string text = R"({"manifests":[)" +
                           entry(R"({"os":"linux","architecture":"arm64","variant":"v8"})") + "," +
                           entry(R"({"os":"unknown","architecture":"unknown"})") + "," +
                           entry(R"({"os":"linux","architecture":"amd64"})") + "]}";
  REQUIRE(is_index(text));
  const auto entries = parse_index(text, "`a`");
  CHECK(choose(entries, "linux/amd64", "`a`").platform == "linux/amd64");
  CHECK(choose(entries, "linux/arm64", "`a`").platform == "linux/arm64/v8");
  CHECK(choose(entries, "linux/amd64/v2", "`a`").platform == "linux/amd64");
  CHECK_THROWS_WITH_AS(choose(entries, "linux/s390x", "`a`"), "`a` has no image for `linux/s390x`",
                       Error);
}

TEST_CASE("an index says of each image where it runs, and is read back") {
  std::vector<IndexEntry> entries;
  auto written = nlohmann::json::array();
  for (const auto* platform : {"linux/amd64", "linux/arm64/v8"}) {
    entries.push_back({.manifest = {.media_type = std::string{media_type::oci_manifest},
                                    .digest = sha256(platform),
                                    .size = 7},
                       .platform = platform});
    written.push_back(index_entry(entries.back()));
  }
  const auto document = index_of(std::move(written));
  CHECK(document["mediaType"] == "application/vnd.oci.image.index.v1+json");
  CHECK(document["manifests"][0]["platform"] ==
        nlohmann::json{{"architecture", "amd64"}, {"os", "linux"}});
  const std::string text = write_json(document);
  CHECK(is_index(text));
  const auto read = parse_index(text, "the index");
  REQUIRE(read.size() == entries.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    CHECK(read[i].manifest == entries[i].manifest);
    CHECK(read[i].platform == entries[i].platform);
  }
}

TEST_CASE("a configuration keeps what autopack does not know") {
  auto configuration = Configuration::parse(
      R"({"architecture":"amd64","os":"linux","config":{"Env":["PATH=/bin","HOME=/root"],"Cmd":["bash"],"Healthcheck":{"Test":["NONE"]},"Labels":null},"rootfs":{"type":"layers","diff_ids":[]},"history":[]})",
      "it");
  configuration.set_environment("HOME", "/home");
  configuration.set_environment("A", "b");
  configuration.set_entrypoint({"python3", "a.py"});
  configuration.set_label("l", "1");
  configuration.set_created(315'619'200);
  configuration.add_layer({.digest = sha256("layer"), .diff_id = sha256("tar")}, "COPY a a");
  const auto document = autopack::parse_json(configuration.to_json());
  CHECK(document["config"]["Env"] == nlohmann::json{"PATH=/bin", "HOME=/home", "A=b"});
  CHECK_FALSE(document["config"].contains("Cmd"));
  CHECK(document["config"].contains("Healthcheck"));
  CHECK(document["created"] == "1980-01-02T00:00:00Z");
  CHECK(document["rootfs"]["diff_ids"].size() == 1);
  CHECK(configuration.platform() == "linux/amd64");
  CHECK(configuration.labels().at("l") == "1");
  CHECK_THROWS_AS(Configuration::parse("{}", "it"), Error);
  CHECK_THROWS_AS(Configuration::parse(R"({"rootfs":{"diff_ids":[5]},"config":{"Env":"x"}})", "it"),
                  Error);
}

}  // namespace autopack::image_manifest_test
