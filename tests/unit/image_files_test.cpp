#include "base/error.hpp"
#include "base/file.hpp"
#include "base/new_file.hpp"
#include "image/file_image.hpp"
#include "image/file_output.hpp"
#include "image/layer.hpp"
#include "image/tar.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

namespace autopack::image_files_test {

namespace fs = std::filesystem;
using image::FileReference;
using image::TarWriter;

namespace {

image::Reader reader_of(std::string bytes) {
  return [bytes = std::move(bytes), at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const std::size_t count = bytes.copy(buffer, size, at);
    at += count;
    return count;
  };
}

std::string layer_tar(const std::string& text) {
  std::string bytes;
  TarWriter tar{[&](std::string_view piece) { bytes += piece; }};
  tar.add_file("file", 0644, text);
  tar.finish();
  return bytes;
}

/// An image of one layer in memory, with Docker's media types, as in a registry.
image::Source small_image(const std::string& text, const std::string& architecture = "amd64") {
  std::string bytes;
  image::LayerWriter writer{[&](std::string_view piece) { bytes += piece; }};
  writer.write(layer_tar(text));
  const auto facts = writer.finish();
  const std::string configuration = R"({"architecture":")" + architecture +
                                    R"(","config":{},"os":"linux","rootfs":{"diff_ids":[")" +
                                    facts.diff_id.str() + R"("],"type":"layers"}})";
  return {.name = "memory",
          .digest = sha256("a manifest"),
          .manifest = {.media_type = std::string{image::media_type::docker_manifest},
                       .config = {.media_type = std::string{image::media_type::docker_config},
                                  .digest = sha256(configuration),
                                  .size = configuration.size()},
                       .layers = {{.media_type = std::string{image::media_type::docker_layer},
                                   .digest = facts.digest,
                                   .size = facts.size}}},
          .configuration = configuration,
          .open = [bytes](const image::Descriptor&) { return reader_of(bytes); }};
}

image::Source open(const std::string& text) {
  return image::open_files(FileReference::parse(text).value(), "linux/amd64");
}

std::string content(const image::Source& source) {
  std::string bytes;
  image::read_all(source.open(source.manifest.layers.front()),
                  [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

void save(const fs::path& path, const std::string& bytes) {
  std::ofstream{path, std::ios::binary} << bytes;
}

std::size_t files_below(const fs::path& path) {
  return static_cast<std::size_t>(
      std::distance(fs::recursive_directory_iterator{path}, fs::recursive_directory_iterator{}));
}

std::string archive_of(const image::Source& source, std::size_t left_out = 0) {
  std::string bytes;
  image::write_archive(source, {"team/app:1"}, left_out,
                       [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

}  // namespace

TEST_CASE("names of images in files") {
  struct Row {
    const char* text;
    const char* path;
    const char* tag;
  };

  for (const auto& row : std::vector<Row>{{"oci:dir", "dir", ""},
                                          {"oci:/a/b:1.2", "/a/b", "1.2"},
                                          {"oci:/a:b/c", "/a:b/c", ""},
                                          {"tar:/x/y:z.tar", "/x/y:z.tar", ""}}) {
    CAPTURE(row.text);
    const auto reference = FileReference::parse(row.text);
    REQUIRE(reference);
    CHECK(reference->path == row.path);
    CHECK(reference->tag.value_or("") == row.tag);
  }
  const auto digest = sha256("x");
  CHECK(FileReference::parse("oci:dir@" + digest.str())->digest == digest);
  CHECK_FALSE(FileReference::parse("python:3.11"));
  CHECK_THROWS_AS(FileReference::parse("oci:"), Error);
  CHECK_THROWS_AS(FileReference::parse("oci:dir@sha256:12"), Error);
  CHECK(image::base_fault("tar:").has_value());
  CHECK(image::build_name({.reference = "oci:x", .image_id = "sha256:0123456789abcdef01"}) ==
        "autopack/base:0123456789abcdef");
  CHECK(image::build_name({.reference = "python:3"}) == "python:3");
}

TEST_CASE("an archive names its image in full for containerd's store, and briefly for docker's") {
  const auto bytes = archive_of(small_image("one"));
  CHECK(bytes.find(R"("io.containerd.image.name":"docker.io/team/app:1")") != std::string::npos);
  CHECK(bytes.find(R"("RepoTags":["team/app:1"])") != std::string::npos);
}

TEST_CASE("a layout gives back what was put into it") {
  const TemporaryDirectory scratch;
  const auto layout = scratch.path() / "layout";
  const auto one = small_image("one");
  const auto two = small_image("two");
  image::write_layout(one, layout, "");
  CHECK(files_below(scratch.path()) == 8);  // directories, mark, index and three blobs
  const auto back = open("oci:" + layout.string());
  CHECK(back.configuration == one.configuration);
  CHECK(back.manifest.is_oci());
  CHECK(back.manifest.layers.front().media_type == image::media_type::oci_layer);
  CHECK(content(back) == content(one));

  image::write_layout(two, layout, "two");
  CHECK(open("oci:" + layout.string() + ":two").configuration == two.configuration);
  CHECK_THROWS_AS(open("oci:" + layout.string()), Error);
  CHECK_THROWS_AS(open("oci:" + layout.string() + ":three"), Error);
  CHECK(open("oci:" + layout.string() + "@" + back.digest.str()).digest == back.digest);

  image::write_layout(one, layout, "two");
  CHECK(open("oci:" + layout.string() + ":two").configuration == one.configuration);
}

TEST_CASE("images of a layout become one index, and its images go with it") {
  const TemporaryDirectory scratch;
  const auto layout = scratch.path() / "layout";
  const auto at = [&](const std::string& tag, const std::string& platform) {
    return image::open_files(FileReference::parse("oci:" + layout.string() + tag).value(), platform)
        .configuration;
  };
  const auto listed = [&] {
    std::vector<std::string> names;
    for (const auto& entry : image::parse_index(read_file(layout / "index.json"), "it")) {
      names.push_back(entry.name.value_or(""));
    }
    return names;
  };
  using Names = std::vector<std::string>;
  const auto one = small_image("one");
  const auto arm = small_image("arm", "arm64");
  image::write_layout(small_image("mine"), layout, "mine");
  image::write_layout(one, layout, "part-a");
  image::write_layout(arm, layout, "part-b");
  const auto digest = image::join_layout(layout, {"part-a", "part-b"}, "all");
  CHECK(listed() == Names{"mine", "all"});
  CHECK(at(":all", "linux/amd64") == one.configuration);
  CHECK(at(":all", "linux/arm64") == arm.configuration);
  CHECK_THROWS_AS(at(":all", "linux/s390x"), Error);
  CHECK(at("@" + digest.str(), "linux/arm64") == arm.configuration);

  CHECK_THROWS_AS(image::join_layout(layout, {"part-a", "part-b"}, "all"), Error);
  CHECK(listed() == Names{"mine", "all"});

  // Another index replaces it: blobs that only the old one needed are removed.
  const auto before = files_below(layout);
  const auto two = small_image("two");
  image::write_layout(two, layout, "part-a");
  image::write_layout(arm, layout, "part-b");
  CHECK(image::join_layout(layout, {"part-a", "part-b"}, "all") != digest);
  CHECK(files_below(layout) == before);
  CHECK(at(":all", "linux/amd64") == two.configuration);
  CHECK(at(":all", "linux/arm64") == arm.configuration);
  CHECK_FALSE(fs::exists(layout / "blobs" / "sha256" / one.manifest.layers.front().digest.hex()));
  CHECK(content(open("oci:" + layout.string() + ":mine")) == content(small_image("mine")));
}

TEST_CASE("leftovers of killed writers of a layout are removed with the next image") {
  const TemporaryDirectory scratch;
  const auto layout = scratch.path() / "layout";
  image::write_layout(small_image("one"), layout, "one");
  const auto before = files_below(layout);
  for (const auto* const name : {".index.json.0123abcd", ".oci-layout.0123abcd"}) {
    write_file(layout / name, "half");
  }
  write_file(layout / "blobs" / "sha256" / ("." + std::string(64, 'a') + ".0123abcd"), "half");
  write_file(layout / ".index.json.mine", "not named by us");
  image::write_layout(small_image("one"), layout, "one");
  CHECK(files_below(layout) == before + 1);
  CHECK(fs::exists(layout / ".index.json.mine"));
}

TEST_CASE("images that will be in no index go from a layout, and nothing else") {
  const TemporaryDirectory scratch;
  const auto layout = scratch.path() / "layout";
  image::discard_parts(layout, {"part-a"});
  CHECK_FALSE(fs::exists(layout));
  image::write_layout(small_image("mine"), layout, "mine");
  const auto before = files_below(layout);
  const auto index = read_file(layout / "index.json");
  image::write_layout(small_image("one"), layout, "part-a");
  CHECK(files_below(layout) > before);
  image::discard_parts(layout, {"part-a", "part-b"});
  CHECK(files_below(layout) == before);
  CHECK(read_file(layout / "index.json") == index);
  CHECK(content(open("oci:" + layout.string() + ":mine")) == content(small_image("mine")));

  write_file(layout / "index.json", "{");
  image::discard_parts(layout, {"mine"});
  CHECK(read_file(layout / "index.json") == "{");
}

TEST_CASE("unused blobs of a layout are removed, and nothing else") {
  const TemporaryDirectory directory;
  const fs::path layout = directory.path() / "layout";
  const auto blob = [&](const Digest& digest) {
    return layout / "blobs" / "sha256" / digest.hex();
  };
  const auto layer = [](const image::Source& source) {
    return source.manifest.layers.front().digest;
  };
  const auto one = small_image("one");
  const auto two = small_image("two");
  image::write_layout(one, layout, "a");
  image::write_layout(one, layout, "b");
  const Digest foreign = sha256("foreign");
  save(blob(foreign), "foreign");
  image::write_layout(two, layout, "a");
  CHECK(fs::exists(blob(layer(one))));
  image::write_layout(two, layout, "b");
  CHECK_FALSE(fs::exists(blob(layer(one))));
  CHECK_FALSE(fs::exists(blob(one.manifest.config.digest)));
  CHECK(fs::exists(blob(foreign)));
  CHECK(files_below(layout / "blobs") == 1 + 3 + 1);
  CHECK(content(open("oci:" + layout.string() + ":b")) == content(two));
  // An unreadable manifest may need any blob.
  const auto entry = image::parse_index(read_file(layout / "index.json"), "it").front();
  save(blob(entry.manifest.digest), "{}");
  image::write_layout(one, layout, "c");
  image::write_layout(small_image("three"), layout, "c");
  CHECK(fs::exists(blob(layer(one))));
}

TEST_CASE("a layout that cannot be written leaves nothing") {
  const TemporaryDirectory scratch;
  auto broken = small_image("broken");
  broken.open = [](const image::Descriptor&) -> image::Reader {
    return
        [](char*, std::size_t) -> std::size_t { throw Error(ErrorKind::remote, "the line broke"); };
  };
  CHECK_THROWS_WITH(image::write_layout(broken, scratch.path() / "new", ""), "the line broke");
  CHECK(files_below(scratch.path()) == 0);

  const auto layout = scratch.path() / "old";
  image::write_layout(small_image("one"), layout, "");
  const auto before = files_below(layout);
  const auto index = read_file(layout / "index.json");
  CHECK_THROWS_AS(image::write_layout(broken, layout, ""), Error);
  CHECK(files_below(layout) == before);
  CHECK(read_file(layout / "index.json") == index);

  fs::create_directory(scratch.path() / "mine");
  save(scratch.path() / "mine" / "thesis.txt", "precious");
  CHECK_THROWS_AS(image::write_layout(small_image("x"), scratch.path() / "mine", ""), Error);
  CHECK(files_below(scratch.path() / "mine") == 1);
}

TEST_CASE("damage in a layout is found") {
  const TemporaryDirectory scratch;
  const auto layout = scratch.path() / "layout";
  const auto source = small_image("one");
  image::write_layout(source, layout, "");
  const auto blobs = layout / "blobs" / "sha256";
  const auto name = "oci:" + layout.string();
  SUBCASE("a layer") {
    const auto& layer = source.manifest.layers.front();
    std::string bytes = content(source);
    bytes[20] = static_cast<char>(bytes[20] ^ 1);
    save(blobs / layer.digest.hex(), bytes);
    CHECK_THROWS_AS(content(open(name)), Error);
    save(blobs / layer.digest.hex(), bytes.substr(0, 10));
    CHECK_THROWS_AS(content(open(name)), Error);
    fs::remove(blobs / layer.digest.hex());
    CHECK_THROWS_AS(content(open(name)), Error);
  }
  SUBCASE("the configuration") {
    save(blobs / source.manifest.config.digest.hex(), "{}");
    CHECK_THROWS_AS(open(name), Error);
  }
  SUBCASE("the index") {
    save(layout / "index.json", "[]");
    CHECK_THROWS_AS(open(name), Error);
    fs::remove(layout / "index.json");
    CHECK_THROWS_AS(open(name), Error);
  }
}

TEST_CASE("an archive gives back what was put into it") {
  const TemporaryDirectory scratch;
  const auto file = scratch.path() / "image.tar";
  const auto source = small_image("one");
  save(file, archive_of(source));
  const auto back = open("tar:" + file.string());
  CHECK(back.configuration == source.configuration);
  CHECK(content(back) == content(source));
  CHECK(archive_of(source, 1).size() < archive_of(source).size());
}

TEST_CASE("a compressed archive is unpacked, a cut one refused") {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "image.tar.gz";
  const auto source = small_image("packed");
  std::string packed;
  image::LayerWriter gzip{[&](std::string_view piece) { packed += piece; }};
  gzip.write(archive_of(source));
  gzip.finish();
  save(path, packed);
  CHECK(content(open("tar:" + path.string())) == content(source));
  save(path, packed.substr(0, packed.size() / 2));
  CHECK_THROWS_AS(open("tar:" + path.string()), Error);
}

TEST_CASE("archives of docker save are read") {
  const TemporaryDirectory scratch;
  const auto file = scratch.path() / "image.tar";
  const std::string layer = layer_tar("one");
  const std::string config = R"({"architecture":"amd64","config":{},"os":"linux","rootfs":{)"
                             R"("diff_ids":[")" +
                             sha256(layer).str() + "\",\"" + sha256(layer).str() +
                             R"("],"type":"layers"}})";
  std::string bytes;
  TarWriter tar{[&](std::string_view piece) { bytes += piece; }};
  tar.add_file("aaa/layer.tar", 0644, layer);
  tar.add_symlink("bbb/layer.tar", "../aaa/layer.tar");
  tar.add_file("config.json", 0644, config);
  tar.add_file("manifest.json", 0644,
               R"([{"Config":"config.json","Layers":["aaa/layer.tar","bbb/layer.tar"]}])");
  tar.finish();
  save(file, bytes);
  const auto source = open("tar:" + file.string());
  CHECK(source.manifest.layers.size() == 2);
  CHECK(source.manifest.layers[0] == source.manifest.layers[1]);
  CHECK(image::is_plain_tar(source.manifest.layers[0]));
  CHECK(content(source) == layer);
  CHECK(source.manifest.config.digest == sha256(config));

  save(file, "this is no archive, but a text that is long enough");
  CHECK_THROWS_AS(open("tar:" + file.string()), Error);
  save(file, layer);
  CHECK_THROWS_AS(open("tar:" + file.string()), Error);
  CHECK_THROWS_AS(open("tar:" + (scratch.path() / "none").string()), Error);
}

TEST_CASE("an image whose configuration lists other layers is refused") {
  auto source = small_image("one");
  image::check_layers(source);
  source.manifest.layers.push_back(source.manifest.layers.front());
  CHECK_THROWS_WITH_AS(image::check_layers(source), "image `memory` is broken", Error);
  source.manifest.layers.clear();
  CHECK_THROWS_AS(image::check_layers(source), Error);
}

TEST_CASE("a configuration of other types is reported, not treated as a bug") {
  for (const char* text : {R"({"rootfs": {"diff_ids": []}, "config": "x"})", R"({"rootfs": "x"})",
                           R"({"rootfs": null})", R"({"rootfs": {"diff_ids": [1]}})",
                           R"({"rootfs": {"diff_ids": []}, "history": {}})",
                           R"({"rootfs": {"diff_ids": []}, "created": 5})"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(image::Configuration::parse(text, "it"), Error);
  }
  auto odd = image::Configuration::parse(
      R"({"rootfs": {"diff_ids": null}, "history": null, "config": null, "created": null})", "it");
  odd.set_user("me");
  odd.add_layer({.digest = sha256("y"), .diff_id = sha256("x")}, "step");
  CHECK(odd.diff_ids().size() == 1);
}

TEST_CASE("leftovers of a killed writer are removed, files of a running one are not") {
  const TemporaryDirectory folder;
  const fs::path target = folder.path() / "image.tar";
  write_file(folder.path() / ".image.tar.0123abcd", "left");
  fs::create_directories(folder.path() / ".image.tar.0123abce" / "blobs");
  write_file(folder.path() / ".image.tar.note", "mine");
  NewFile living{target};
  living.write("whole");
  sweep_leftovers(target);
  CHECK_FALSE(fs::exists(folder.path() / ".image.tar.0123abcd"));
  CHECK_FALSE(fs::exists(folder.path() / ".image.tar.0123abce"));
  CHECK(fs::exists(folder.path() / ".image.tar.note"));
  living.commit();
  CHECK(read_file(target) == "whole");
}

}  // namespace autopack::image_files_test
