#include "base/error.hpp"
#include "base/file.hpp"
#include "image/archive_reader.hpp"
#include "image/tar.hpp"
#include "image/unpacked_layer.hpp"
#include "support/raw_tar.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace autopack::image_unpacked_layer_test {

namespace {

namespace fs = std::filesystem;

/// A directory `layer` beside a file `outside` that no layer may touch.
struct Place {
  Place() {
    fs::create_directories(layer());
    write_file(directory.path() / "outside", "kept");
    fs::create_directories(directory.path() / "target");
  }

  fs::path layer() const { return directory.path() / "layer"; }

  Digest unpack(const RawTar& tar, const image::UnpackLimits& limits = {}) const {
    return image::unpack_layer(
        [bytes = tar.bytes(), at = std::size_t{0}](char* buffer, std::size_t size) mutable {
          const auto count = bytes.copy(buffer, size, at);
          at += count;
          return count;
        },
        layer(), "a layer", limits);
  }

  bool is_untouched() const {
    return read_file(directory.path() / "outside") == "kept" &&
           fs::is_empty(directory.path() / "target") &&
           std::distance(fs::directory_iterator{directory.path()}, {}) == 3;
  }

  TemporaryDirectory directory{};
};

struct stat state_of(const fs::path& path) {
  struct stat state {};

  REQUIRE(::lstat(path.c_str(), &state) == 0);
  return state;
}

bool is_whiteout(const fs::path& path) {
  const auto state = state_of(path);
  return S_ISCHR(state.st_mode) && state.st_rdev == ::makedev(0, 0);
}

bool is_opaque(const fs::path& path) {
  char value{};
  return ::getxattr(path.c_str(), "user.overlay.opaque", &value, 1) == 1 && value == 'y';
}

std::string cause_of(const Place& place,
                     const RawTar& tar,
                     const image::UnpackLimits& limits = {}) {
  try {
    place.unpack(tar, limits);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    CHECK(error.message() == "a layer cannot be unpacked");
    return error.causes().front();
  }
  return "";
}

}  // namespace

TEST_CASE("unpacking a layer: files, modes, times and links") {
  const Place place;
  RawTar tar;
  tar.directory("./bin/", 0555);
  tar.file("./bin/run", "#!", 06755);
  tar.file("usr/lib/a", "text", 0);
  tar.symlink("lib", "usr/lib");
  tar.file("lib/b", "through the link");
  tar.hard_link("usr/lib/c", "usr/lib/a");
  tar.add("dev/sda", '3');
  tar.add("pipe", '6');
  const auto digest = place.unpack(tar);
  CHECK(digest == sha256(tar.bytes()));
  const auto root = place.layer();
  CHECK((state_of(root / "bin").st_mode & 07777U) == 0755);
  CHECK((state_of(root / "bin/run").st_mode & 07777U) == 0755);
  CHECK(state_of(root / "bin/run").st_mtime == 1'000'000'000);
  CHECK((state_of(root / "usr/lib/a").st_mode & 07777U) == 0400);
  CHECK(read_file(root / "usr/lib/b") == "through the link");
  CHECK(state_of(root / "usr/lib/a").st_ino == state_of(root / "usr/lib/c").st_ino);
  CHECK(fs::read_symlink(root / "lib") == "usr/lib");
  CHECK(fs::is_empty(root / "dev"));
  CHECK(!fs::exists(root / "pipe"));
}

TEST_CASE("unpacking a layer: a later entry replaces an earlier one") {
  const Place place;
  RawTar tar;
  tar.file("a", "old");
  tar.directory("a");
  tar.file("a/inside", "x");
  tar.file("b/inside", "x");
  tar.symlink("b", "../../outside");
  tar.symlink("c", "/outside");
  tar.file("c", "new");
  tar.directory("d");
  tar.directory("d", 0700);
  place.unpack(tar);
  CHECK(read_file(place.layer() / "a/inside") == "x");
  CHECK(fs::is_symlink(place.layer() / "b"));
  CHECK(read_file(place.layer() / "c") == "new");
  CHECK((state_of(place.layer() / "d").st_mode & 07777U) == 0700);
  CHECK(place.is_untouched());
}

TEST_CASE("unpacking a layer: whiteouts hide what is below") {
  const Place place;
  RawTar tar;
  tar.file("etc/.wh.gone", "");
  tar.file("data/.wh..wh..opq", "");
  tar.file("data/new", "x");
  tar.file(".wh.replaced", "");
  tar.directory("replaced");
  tar.directory("kept");
  tar.file(".wh.kept", "");
  tar.file("present", "x");
  tar.file(".wh.present", "");
  tar.file(".wh..wh.plnk/1.2", "");
  tar.file(".wh..wh.aufs", "");
  place.unpack(tar);
  const auto root = place.layer();
  CHECK(is_whiteout(root / "etc/gone"));
  CHECK(is_opaque(root / "data"));
  CHECK(fs::exists(root / "data/new"));
  CHECK(is_opaque(root / "replaced"));
  CHECK(is_opaque(root / "kept"));
  CHECK(read_file(root / "present") == "x");
  CHECK(!is_opaque(root / "etc"));
  CHECK(!fs::exists(root / ".wh..wh.aufs"));
}

TEST_CASE("unpacking a layer: nothing leads out of it") {
  const auto outside = [](const Place& place) {
    return (place.directory.path() / "target").string();
  };

  SUBCASE("links of directories") {
    const Place place;
    RawTar tar;
    tar.symlink("up", "../target");
    tar.symlink("absolute", outside(place));
    tar.directory("target");
    tar.file("up/file", "x");
    CHECK(cause_of(place, tar).empty());
    CHECK(read_file(place.layer() / "target/file") == "x");  // as in a changed root
    RawTar more;
    more.symlink("absolute", outside(place));
    more.file("absolute/file", "x");
    CHECK(cause_of(place, more).find("cannot make the directory") == 0);
    CHECK(place.is_untouched());
  }
  SUBCASE("names") {
    for (const auto* name : {"../outside", "a/../../outside", "..", "a/.."}) {
      CAPTURE(name);
      const Place place;
      RawTar tar;
      tar.file(name, "x");
      CHECK(cause_of(place, tar).find("leads out of it") != std::string::npos);
      CHECK(place.is_untouched());
    }
    const Place place;
    RawTar tar;
    tar.file("/absolute", "x");
    CHECK(cause_of(place, tar).empty());
    CHECK(read_file(place.layer() / "absolute") == "x");
  }
  SUBCASE("a link at the end of a path") {
    const Place place;
    RawTar tar;
    tar.symlink("link", "../outside");
    tar.file("link", "x");
    tar.symlink("directory", "../target");
    tar.directory("directory", 0700);
    CHECK(cause_of(place, tar).empty());
    CHECK(fs::is_regular_file(fs::symlink_status(place.layer() / "link")));
    CHECK(place.is_untouched());
  }
  SUBCASE("hard links") {
    for (const auto* target : {"../outside", "up/outside", "missing"}) {
      CAPTURE(target);
      const Place place;
      RawTar tar;
      tar.symlink("up", "..");
      tar.hard_link("mine", target);
      CHECK(!cause_of(place, tar).empty());
      CHECK(place.is_untouched());
    }
  }
  SUBCASE("whiteouts") {
    for (const auto* name : {".wh.", ".wh..", ".wh...", "a/.wh..."}) {
      CAPTURE(name);
      const Place place;
      RawTar tar;
      tar.file(name, "");
      CHECK(cause_of(place, tar) == "it removes a file without a name");
      CHECK(place.is_untouched());
    }
  }
}

TEST_CASE("unpacking a layer: limits") {
  const Place place;
  RawTar tar;
  tar.file("a", std::string(2000, 'x'));
  tar.file("b", std::string(2000, 'x'));
  CHECK(cause_of(place, tar, {.bytes = 3000}) == "its files have more than 3.0 kB");
  CHECK(cause_of(place, tar, {.entries = 1}) == "it has more than 1 entries");
  CHECK(cause_of(place, tar, {.free_bytes = std::uint64_t{1} << 62U})
            .find("would be left on the disk") != std::string::npos);
}

}  // namespace autopack::image_unpacked_layer_test
