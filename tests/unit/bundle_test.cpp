#include "bundle/bundle.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "image/archive_reader.hpp"
#include "support/layered_image.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace autopack::bundle_test {

namespace {

namespace fs = std::filesystem;
using bundle::Starter;

constexpr auto* config = R"({"Entrypoint": ["python3"], "Cmd": ["a.py"], "User": "worker",
                             "Env": ["A=b c"], "WorkingDir": "/srv"})";

RawTar small_layer() {
  RawTar tar;
  tar.directory("etc/", 0755);
  tar.file("etc/passwd", "worker:x:1234:55::/srv/home:/bin/sh\n");
  tar.file("etc/group", "extra:x:77:worker\n");
  tar.file("program", std::string(10'000, '\0') + "end", 04755);
  tar.hard_link("same", "program");
  tar.symlink("link", "/etc/passwd");
  tar.directory("closed/", 0500);
  tar.file("closed/secret", "x", 0000);
  tar.add("pipe", '6', "", "", 0600);
  return tar;
}

Starter somebody() {
  return {.user = ::geteuid(), .group = ::getegid(), .is_root = false};
}

nlohmann::json configuration_of(const Starter& starter) {
  return parse_json(bundle::bundle_configuration(
      image_of({small_layer()}, config), starter,
      [](const std::string& path) -> std::optional<std::string> {
        return path == "etc/passwd" ? "worker:x:1234:55::/srv/home:/bin/sh\n" : "extra:x:77:worker";
      }));
}

/// Returns paths, modes, times and contents of everything below `directory`.
std::string facts_of(const fs::path& directory) {
  std::vector<fs::path> all{directory};
  for (const auto& entry : fs::recursive_directory_iterator{directory}) {
    all.push_back(entry.path());
  }
  std::ranges::sort(all);
  std::string text;
  for (const auto& path : all) {
    struct stat state {};

    REQUIRE(::lstat(path.c_str(), &state) == 0);
    text += fmt::format("{} {:o} {} {} {}\n", path.lexically_relative(directory).string(),
                        state.st_mode, state.st_mtim.tv_sec, state.st_nlink,
                        S_ISREG(state.st_mode) ? read_file(path) : "");
  }
  return text;
}

std::size_t names_in(const fs::path& directory) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator{directory}, {}));
}

}  // namespace

TEST_CASE("a bundle's configuration: root has the user of the image, another user is root") {
  const auto of_root = configuration_of({.user = 0, .group = 0, .is_root = true});
  const auto& process = of_root["process"];
  CHECK(process["args"] == nlohmann::json{"python3", "a.py"});
  CHECK(process["cwd"] == "/srv");
  CHECK(process["env"] ==
        nlohmann::json{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "A=b c",
                       "HOME=/srv/home"});
  CHECK(process["user"]["uid"] == 1234);
  CHECK(process["user"]["gid"] == 55);
  CHECK(process["user"]["additionalGids"] == nlohmann::json{77});
  CHECK(!process["capabilities"].contains("effective"));
  CHECK(!of_root["linux"].contains("uidMappings"));

  const auto of_user = configuration_of({.user = 1000, .group = 100, .is_root = false});
  CHECK(of_user["process"]["user"] == nlohmann::json{{"uid", 0}, {"gid", 0}});
  CHECK(of_user["process"]["env"] == process["env"]);
  CHECK(of_user["process"]["noNewPrivileges"] == true);
  CHECK(of_user["linux"]["uidMappings"][0]["hostID"] == 1000);
  CHECK(of_user["linux"]["gidMappings"][0]["hostID"] == 100);
  for (const auto& mount : of_user["mounts"]) {
    CHECK(mount.dump().find("gid=") == std::string::npos);
  }
  for (const auto& one : of_root["linux"]["namespaces"]) {
    CHECK(one["type"] != "network");
  }
}

TEST_CASE("a bundle: files of one user, the same bytes each time") {
  const TemporaryDirectory place;
  const auto source = image_of({small_layer()}, config);
  const auto before = ::umask(077);
  bundle::write_bundle(source, place.path() / "one", somebody());
  ::umask(0);
  bundle::write_bundle(source, place.path() / "two/", somebody());
  ::umask(before);
  const auto facts = facts_of(place.path() / "one");
  CHECK(facts == facts_of(place.path() / "two"));
  const auto root = place.path() / "one" / "rootfs";
  CHECK(read_file(root / "same") == std::string(10'000, '\0') + "end");
  CHECK(fs::hard_link_count(root / "same") == 2);
  CHECK(fs::read_symlink(root / "link") == "/etc/passwd");

  struct stat state {};

  REQUIRE(::lstat((root / "program").c_str(), &state) == 0);
  CHECK((state.st_mode & 07777U) == 0755);  // set-uid would be this user's
  CHECK(state.st_mtim.tv_sec == 1'000'000'000);
  CHECK(state.st_blocks * 512 < 10'000);
  REQUIRE(::lstat((root / "closed").c_str(), &state) == 0);
  CHECK((state.st_mode & 07777U) == 0700);
  CHECK(read_file(root / "closed" / "secret") == "x");
  CHECK(names_in(place.path() / "one") == 2);
  CHECK(names_in(place.path()) == 2);
}

TEST_CASE("a bundle: replaces only a bundle by autopack") {
  const TemporaryDirectory place;
  const auto path = place.path() / "there";
  const auto write = [&](const RawTar& layer) {
    bundle::write_bundle(image_of({layer}), path, somebody());
  };
  fs::create_directory(path);
  write_file(path / "notes", "mine");
  CHECK_THROWS_WITH_AS(write(small_layer()),
                       ("`" + path.string() + "` exists and is not a bundle by autopack").c_str(),
                       Error);
  write_file(path / "config.json", R"({"ociVersion": "1.0.2"})");
  CHECK_THROWS_AS(write(small_layer()), Error);
  CHECK(read_file(path / "notes") == "mine");
  fs::remove_all(path);
  fs::create_directory(path);
  write(small_layer());
  CHECK(fs::exists(path / "rootfs" / "program"));
  RawTar other;
  other.file("other", "1");
  write(other);
  CHECK(fs::exists(path / "rootfs" / "other"));
  CHECK(!fs::exists(path / "rootfs" / "program"));
  CHECK(names_in(place.path()) == 1);
  // A failure keeps the old one.
  auto broken = image_of({small_layer()});
  broken.open = [open = broken.open](const image::Descriptor& layer) -> image::Reader {
    return [reader = open(layer), count = 0](char* buffer, std::size_t) mutable {
      if (++count > 8) {
        throw Error(ErrorKind::remote, "cut");
      }
      return reader(buffer, 512);
    };
  };
  CHECK_THROWS_AS(bundle::write_bundle(broken, path, somebody()), Error);
  CHECK(fs::exists(path / "rootfs" / "other"));
  CHECK(names_in(place.path()) == 1);
}

TEST_CASE("a bundle as a tar: the same files, links last") {
  const auto source = image_of({small_layer()}, config);
  std::string tar;
  bundle::write_bundle_archive(source, {.user = 1000, .group = 100, .is_root = false},
                               [&](std::string_view bytes) { tar += bytes; });
  std::string listed;
  std::string configuration;
  image::read_plain_contents(
      [&, at = std::size_t{0}](char* buffer, std::size_t size) mutable {
        const auto count = tar.copy(buffer, size, at);
        at += count;
        return count;
      },
      "a bundle",
      [&](const image::ArchiveEntry& entry, const image::Reader& content) {
        listed += fmt::format("{} {:o} {}{}\n", entry.path, entry.mode, entry.time,
                              entry.link.empty() ? "" : " -> " + entry.link);
        if (entry.path == "config.json") {
          image::read_all(content, [&](std::string_view bytes) { configuration += bytes; });
        }
      });
  CHECK(listed ==
        "rootfs/ 755 315619200\n"
        "rootfs/closed/ 700 1000000000\n"
        "rootfs/etc/ 755 1000000000\n"
        "rootfs/etc/passwd 644 1000000000\n"
        "rootfs/etc/group 644 1000000000\n"
        "rootfs/program 755 1000000000\n"
        "rootfs/same 644 1000000000 -> rootfs/program\n"
        "rootfs/closed/secret 400 1000000000\n"
        "rootfs/link 777 1000000000 -> /etc/passwd\n"
        "config.json 644 315619200\n");
  CHECK(parse_json(configuration) ==
        configuration_of({.user = 1000, .group = 100, .is_root = false}));
}

}  // namespace autopack::bundle_test
