#include "base/error.hpp"
#include "image/file_image.hpp"
#include "image/layer.hpp"
#include "image/manifest.hpp"
#include "image/tar.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace autopack::image_peers_test {

/// The expectations of go-containerregistry's tests on digests, platforms, layers and archives, and
/// where autopack differs.
using image::TarWriter;

namespace {

const std::string hex{"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};

std::string layer_tar(const std::string& text) {
  std::string bytes;
  TarWriter tar{[&](std::string_view piece) { bytes += piece; }};
  tar.add_file("file", 0644, text);
  tar.finish();
  return bytes;
}

std::string with_gzip(const std::string& bytes) {
  std::string packed;
  image::LayerWriter gzip{[&](std::string_view piece) { packed += piece; }};
  gzip.write(bytes);
  gzip.finish();
  return packed;
}

std::string little_endian(std::size_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>(number >> (8 * i) & 0xFFU);
  }
  return text;
}

/// Returns a frame of one uncompressed block (RFC 8878).
std::string with_zstd(const std::string& bytes) {
  REQUIRE(bytes.size() < 100'000);
  return "\x28\xb5\x2f\xfd\xa0" + little_endian(bytes.size(), 4) +
         little_endian(bytes.size() << 3U | 1U, 3) + bytes;
}

std::string configuration_of(const std::vector<std::string>& layers) {
  std::string ids;
  for (const auto& layer : layers) {
    ids += (ids.empty() ? "\"" : ",\"") + sha256(layer).str() + "\"";
  }
  return R"({"architecture":"amd64","config":{},"os":"linux","rootfs":{"diff_ids":[)" + ids +
         R"(],"type":"layers"}})";
}

struct Member {
  std::string name{};
  std::string text{};
  std::string link{};  ///< the target of a symbolic link, unless empty
};

/// An archive as written by `docker save`.
class Archive {
public:
  explicit Archive(const std::vector<Member>& members) {
    std::string bytes;
    TarWriter tar{[&](std::string_view piece) { bytes += piece; }};
    for (const auto& member : members) {
      if (member.link.empty()) {
        tar.add_file(member.name, 0644, member.text);
      } else {
        tar.add_symlink(member.name, member.link);
      }
    }
    tar.finish();
    std::ofstream{file(), std::ios::binary} << bytes;
  }

  image::Source open() const {
    return image::open_files(image::FileReference::parse("tar:" + file()).value(), "linux/amd64");
  }

private:
  std::string file() const { return (directory_.path() / "image.tar").string(); }

  TemporaryDirectory directory_;
};

std::string content(const image::Source& source) {
  std::string bytes;
  image::read_all(source.open(source.manifest.layers.front()),
                  [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

}  // namespace

TEST_CASE("digests are those of go-containerregistry") {
  CHECK(sha256("asdf").hex() == "f0e4c2f76c58916ec258f246851bea091d14d4247a2fc3e18694461b1816e13b");
  CHECK(Digest::parse("sha256:" + hex)->str() == "sha256:" + hex);
  for (const auto& bad :
       {std::string{"sha256:0123"}, "sha256:x" + hex.substr(1), std::string{"sha256:abc:def"},
        "sha256:" + hex + ":", "sha256:0:" + hex.substr(1), "sha256::" + hex, "md5:" + hex, hex,
        "md5:sha256:" + hex}) {
    CAPTURE(bad);
    CHECK_FALSE(Digest::parse(bad));
  }
}

TEST_CASE("a manifest with a digest that is none is refused, and one with nothing in it too") {
  // go-containerregistry accepts an empty object as a manifest; it is useless.
  for (const char* text :
       {"{}", R"({"schemaVersion":2,"config":{"digest":"sha256:0123","size":1}})", "{", "null"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(image::parse_manifest(text, "it"), Error);
  }
  CHECK_THROWS_AS(image::parse_index("{", "it"), Error);
}

TEST_CASE("an image has a platform as go-containerregistry says, or the plain form of a variant") {
  struct Row {
    const char* has;
    const char* wanted;
    bool fits;
  };

  for (const auto& row : std::vector<Row>{
           {R"("os":"linux","architecture":"amd64")", "linux/amd64", true},
           {R"("os":"linux","architecture":"amd64")", "linux/arm64", false},
           {R"("os":"linux","architecture":"amd64")", "darwin/amd64", false},
           {R"("os":"linux","architecture":"amd64","os.version":"5.0")", "linux/amd64", true},
           {R"("os":"linux","architecture":"arm","variant":"v6")", "linux/arm", true},
           {R"("os":"linux","architecture":"arm","variant":"v6")", "linux/arm/v7", false},
           {R"("os":"linux","architecture":"arm","variant":"v6")", "linux/arm/v6", true},
           {R"("os":"linux","architecture":"arm64","os.features":["a","b"])", "linux/arm64", true},
           // An image without a variant runs on every one.
           {R"("os":"linux","architecture":"amd64")", "linux/amd64/v2", true}}) {
    CAPTURE(row.has);
    CAPTURE(row.wanted);
    const auto entries = image::parse_index(R"({"manifests":[{"digest":"sha256:)" + hex +
                                                R"(","size":1,"platform":{)" + row.has + "}}]}",
                                            "it");
    if (row.fits) {
      CHECK_NOTHROW(image::choose(entries, row.wanted, "it"));
    } else {
      CHECK_THROWS_AS(image::choose(entries, row.wanted, "it"), Error);
    }
  }
}

TEST_CASE("a layer is the same plain, with gzip and with zstd") {
  const std::string plain = layer_tar("text");
  for (const auto& bytes : {plain, with_gzip(plain), with_zstd(plain)}) {
    const Archive archive{{{"config.json", configuration_of({plain})},
                           {"layer", bytes},
                           {"manifest.json", R"([{"Config":"config.json","Layers":["layer"]}])"}}};
    const auto source = archive.open();
    CHECK(source.manifest.layers.at(0).digest == sha256(bytes));
    CHECK(source.manifest.layers.at(0).size == bytes.size());
    CHECK(content(source) == bytes);
  }
}

TEST_CASE("archives are read as go-containerregistry reads them") {
  const std::string layer = layer_tar("text");
  const Member config{"config.json", configuration_of({layer})};
  const Member manifest{
      "manifest.json",
      R"([{"Config":"config.json","RepoTags":["foo:1"],"Layers":["a/layer.tar"]}])"};
  const Member plain{"a/layer.tar", layer};
  SUBCASE("in whichever order") {
    CHECK(content(Archive{{manifest, plain, config}}.open()) == layer);
  }
  SUBCASE("with a dot before each name") {
    CHECK(content(Archive{{{"./config.json", config.text},
                           {"./a/layer.tar", layer},
                           {"./manifest.json", manifest.text}}}
                      .open()) == layer);
  }
  SUBCASE("with a layer that is a link to another's") {
    CHECK(content(Archive{
              {{"b/layer.tar", layer}, {"a/layer.tar", "", "../b/layer.tar"}, config, manifest}}
                      .open()) == layer);
  }
}

TEST_CASE("archives that go-containerregistry refuses are refused") {
  const std::string layer = layer_tar("text");
  const Member config{"config.json", configuration_of({layer})};
  const std::string one = R"({"Config":"config.json","Layers":["layer.tar"]})";
  const Member plain{"layer.tar", layer};

  struct Row {
    const char* what;
    std::vector<Member> members;
  };

  for (const auto& row : std::vector<Row>{
           {"no manifest", {config, plain}},
           {"a manifest that is null", {config, plain, {"manifest.json", "null"}}},
           {"no image", {config, plain, {"manifest.json", "[]"}}},
           {"two images and none named",
            {config, plain, {"manifest.json", "[" + one + "," + one + "]"}}},
           {"a configuration without diff_ids",
            {{"config.json", configuration_of({})}, plain, {"manifest.json", "[" + one + "]"}}},
           {"a configuration of another layer",
            {{"config.json", configuration_of({layer, layer})},
             plain,
             {"manifest.json", "[" + one + "]"}}},
           {"a layer that is not there", {config, {"manifest.json", "[" + one + "]"}}},
           {"links in a circle",
            {{"manifest.json", "", "config.json"}, {"config.json", "", "manifest.json"}}},
           {"a link to itself", {config, plain, {"manifest.json", "", "manifest.json"}}},
           {"a link that leaves the archive",
            {config, {"layer.tar", "", "../../etc/passwd"}, {"manifest.json", "[" + one + "]"}}},
       }) {
    CAPTURE(row.what);
    CHECK_THROWS_AS(Archive{row.members}.open(), Error);
  }
}

}  // namespace autopack::image_peers_test
