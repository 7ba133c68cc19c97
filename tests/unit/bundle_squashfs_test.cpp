#include "base/error.hpp"
#include "base/file.hpp"
#include "bundle/squashfs.hpp"
#include "bundle/start_files.hpp"
#include "support/layered_image.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <iterator>
#include <string>

namespace autopack::bundle_squashfs_test {

namespace {

namespace fs = std::filesystem;

image::Configuration configuration_of(const std::string& config) {
  return image::Configuration::parse(
      R"({"rootfs": {"type": "layers", "diff_ids": []}, "config": )" + config + "}", "a test");
}

std::string text_of(const std::string& config, const std::string& name) {
  for (const auto& file : bundle::start_files(configuration_of(config))) {
    if (file.name == name) {
      return file.text;
    }
  }
  return "absent";
}

RawTar layer_with(int files) {
  RawTar tar;
  for (int i = 0; i < files; ++i) {
    tar.add("d/" + std::to_string(i), '0', std::to_string(i % 7), "", 0640, 1234);
  }
  tar.hard_link("same", "d/0");
  tar.symlink("link", "d/1");
  tar.add("null", '3', "", "", 0666, 0, 1, 3);
  tar.file("large", std::string(300'000, 'x') + std::string(300'000, '\0'));
  return tar;
}

std::size_t names_in(const fs::path& directory) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator{directory}, {}));
}

}  // namespace

TEST_CASE("files that start a squashfs: words and variables stay as they are") {
  const std::string config = R"({"Entrypoint": ["sh", "-c", "echo it's"], "Cmd": ["a b", "$HOME"],
      "WorkingDir": "/x y", "Env": ["A=b 'c' $d", "LINES=1\n2", "=x"]})";
  const auto start = text_of(config, "rc");
  CHECK(start.find("cd '/x y' && ") != std::string::npos);
  CHECK(start.find(R"(exec 'sh' '-c' 'echo it'\''s' "$@")") != std::string::npos);
  CHECK(start.find(R"(exec 'sh' '-c' 'echo it'\''s' 'a b' '$HOME')") != std::string::npos);
  CHECK(text_of(config, "runscript") == "#!/bin/sh\n" + start);
  CHECK(text_of(config, "environment") == "A=b 'c' $d\n");
  CHECK(text_of(config, "10-docker2singularity.sh") == "#!/bin/sh\nexport A='b '\\''c'\\'' $d'\n");
  CHECK(text_of("{}", "rc").find("exec /bin/sh") != std::string::npos);
}

TEST_CASE("a squashfs: the same bytes each time, as a whole or not at all") {
  const TemporaryDirectory place;
  const auto source = image_of({layer_with(1000)});
  bundle::write_squashfs(source, place.path() / "one");
  bundle::write_squashfs(source, place.path() / "two");
  const auto bytes = read_file(place.path() / "one");
  CHECK(bytes.starts_with("hsqs"));
  CHECK(bytes.size() % 4096 == 0);
  CHECK(bytes.size() < 100'000);
  CHECK((bytes == read_file(place.path() / "two")));
  RawTar hostile;
  hostile.file("../x", "1");
  CHECK_THROWS_AS(bundle::write_squashfs(image_of({hostile}), place.path() / "one"), Error);
  CHECK((bytes == read_file(place.path() / "one")));
  CHECK(names_in(place.path()) == 2);
}

TEST_CASE("a squashfs: a directory of more than 65,535 names") {
  const TemporaryDirectory place;
  bundle::write_squashfs(image_of({layer_with(70'000)}), place.path() / "many");
  CHECK(fs::file_size(place.path() / "many") > 500'000);
}

}  // namespace autopack::bundle_squashfs_test
