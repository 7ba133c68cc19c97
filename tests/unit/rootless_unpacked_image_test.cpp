#include "base/error.hpp"
#include "base/file.hpp"
#include "image/layer.hpp"
#include "image/source.hpp"
#include "image/tar.hpp"
#include "rootless/unpacked_image.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace autopack::rootless_unpacked_image_test {

namespace {

namespace fs = std::filesystem;
using rootless::UnpackedLayers;
using testing::RecordingReporter;

std::string tar_of(const std::map<std::string, std::string>& files) {
  std::string bytes;
  image::TarWriter tar{[&](std::string_view piece) { bytes += piece; }};
  for (const auto& [path, text] : files) {
    tar.add_file(path, 0644, text);
  }
  tar.finish();
  return bytes;
}

/// An image of uncompressed layers.
image::Source image_of(const std::vector<std::string>& tars) {
  image::Source source{.name = "an image",
                       .digest = sha256("image"),
                       .manifest = {.media_type = std::string{image::media_type::oci_manifest},
                                    .config = {.digest = sha256("config")}}};
  std::string ids;
  std::map<Digest, std::string> blobs;
  for (const auto& tar : tars) {
    const auto digest = sha256(tar);
    source.manifest.layers.push_back({.media_type = std::string{image::media_type::oci_plain_layer},
                                      .digest = digest,
                                      .size = tar.size()});
    ids += fmt::format(R"({}"{}")", ids.empty() ? "" : ",", digest.str());
    blobs[digest] = tar;
  }
  source.configuration = R"({"rootfs": {"type": "layers", "diff_ids": [)" + ids + "]}}";
  source.open = [blobs](const image::Descriptor& layer) {
    return [bytes = blobs.at(layer.digest), at = std::size_t{0}](char* buffer,
                                                                 std::size_t size) mutable {
      const auto count = bytes.copy(buffer, size, at);
      at += count;
      return count;
    };
  };
  return source;
}

struct Cache {
  TemporaryDirectory directory{};
  RecordingReporter reporter{};
  UnpackedLayers layers{directory.path() / "roots", reporter, nullptr};

  std::size_t count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator{directory.path() / "roots" / "layers"}, {}));
  }
};

const std::string base = tar_of({{"etc/passwd", "base"}, {"etc/hosts", "base"}});
const std::string code = tar_of({{"usr/app/task.py", "print(1)"}});
const std::string edited = tar_of({{"usr/app/task.py", "print(2)"}});

}  // namespace

TEST_CASE("unpacked images share layers, and lose those that nobody needs") {
  Cache cache;
  {
    const auto first = cache.layers.unpack(image_of({base, code}));
    cache.layers.keep_only("a project", first);
    CHECK(first.layers.size() == 2);
    cache.layers.keep_only("another project", cache.layers.unpack(image_of({base})));
    CHECK(cache.count() == 2);
    const auto second = cache.layers.unpack(image_of({base, edited}));
    CHECK(second.layers.front() == first.layers.front());
    CHECK(read_file(second.directory / second.layers.back() / "usr/app/task.py") == "print(2)");
    cache.layers.keep_only("a project", second);
    CHECK(cache.count() == 3);  // the first image is in use
  }
  cache.layers.keep_only("a project", cache.layers.unpack(image_of({base, code})));
  CHECK(cache.count() == 2);
  cache.layers.keep_only("a project", cache.layers.unpack(image_of({edited})));
  CHECK(cache.count() == 2);  // the other project still needs the base
}

TEST_CASE("an unpacked image has equal layers once, the highest") {
  Cache cache;
  const auto image = cache.layers.unpack(image_of({code, base, code}));
  REQUIRE(image.layers.size() == 2);
  CHECK(image.layers.front() == sha256(base).hex().substr(0, 24));
}

TEST_CASE("a layer that differs from the configuration is not kept") {
  Cache cache;
  auto source = image_of({base, code});
  const auto open = source.open;
  source.open = [&](const image::Descriptor& layer) {
    return layer.digest == sha256(code) ? open(source.manifest.layers.front()) : open(layer);
  };
  CHECK_THROWS_AS(cache.layers.unpack(source), Error);
  CHECK(
      !fs::exists(cache.directory.path() / "roots" / "layers" / sha256(code).hex().substr(0, 24)));
}

TEST_CASE("what a killed run left of a layer is removed") {
  Cache cache;
  const auto left = cache.directory.path() / "roots" / "layers" /
                    fmt::format(".{}.0123abcd", sha256("other").hex().substr(0, 24));
  fs::create_directories(left / "closed");
  fs::permissions(left / "closed", fs::perms::none);
  cache.layers.unpack(image_of({code}));
  CHECK(!fs::exists(left));
}

TEST_CASE("a file of an unpacked image is that of the highest layer") {
  Cache cache;
  const auto read = [&](const std::vector<std::string>& tars, const std::string& path) {
    return rootless::read_file(cache.layers.unpack(image_of(tars)), path);
  };
  CHECK(read({base, code}, "etc/passwd") == "base");
  CHECK(read({base, tar_of({{"etc/passwd", "changed"}})}, "etc/passwd") == "changed");
  CHECK(!read({base, tar_of({{"etc/.wh.passwd", ""}})}, "etc/passwd"));
  CHECK(!read({base, code}, "etc/missing"));
  std::string links;
  image::TarWriter tar{[&](std::string_view piece) { links += piece; }};
  tar.add_symlink("etc/passwd", "/proc/self/environ");
  tar.add_symlink("up", "../../../../../../etc");
  tar.finish();
  CHECK(!read({links}, "etc/passwd"));
  CHECK(!read({links}, "up/hostname"));
}

}  // namespace autopack::rootless_unpacked_image_test
