#include "base/error.hpp"
#include "image/root_tree.hpp"
#include "support/layered_image.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace autopack::image_root_tree_test {

namespace {

using image::RootFile;

/// The contents that were passed on, by number of the file.
using Contents = std::map<std::uint64_t, std::string>;

struct Merged {
  std::shared_ptr<RootFile> root{};
  Contents contents{};

  std::shared_ptr<const RootFile> at(const std::string& path) const {
    auto found = image::find_in_root(root, path);
    REQUIRE_MESSAGE(found, path);
    return found;
  }

  std::string text(const std::string& path) const { return contents.at(at(path)->number); }
};

Merged merge(const std::vector<RawTar>& layers, const image::RootLimits& limits = {}) {
  Merged merged;
  merged.root = image::merge_layers(
      image_of(layers),
      [&](const RootFile& file, const image::Reader& content) {
        REQUIRE(!merged.contents.contains(file.number));
        image::read_all(content,
                        [&](std::string_view bytes) { merged.contents[file.number] += bytes; });
        merged.contents[file.number];
      },
      limits);
  return merged;
}

void list(const RootFile& directory, const std::string& path, std::string& text) {
  for (const auto& [name, file] : directory.children) {
    text += path + name + (file->is_directory() ? "/" : "") + " ";
    list(*file, path + name + "/", text);
  }
}

/// Returns all paths of the merged layers.
std::string paths(const std::vector<RawTar>& layers) {
  std::string text;
  list(*merge(layers).root, "", text);
  return text;
}

RawTar tar_of(const std::function<void(RawTar& tar)>& fill) {
  RawTar tar;
  fill(tar);
  return tar;
}

std::string refusal(const std::vector<RawTar>& layers, const image::RootLimits& limits = {}) {
  try {
    merge(layers, limits);
  } catch (const Error& error) {
    return error.causes().empty() ? error.message() : error.causes().front();
  }
  return "";
}

}  // namespace

TEST_CASE("a root file system: higher layers add, replace and hide") {
  const auto base = tar_of([](RawTar& tar) {
    tar.directory("a/", 0700);
    tar.file("a/kept", "lower");
    tar.file("a/replaced", "lower");
    tar.file("a/removed", "lower");
    tar.file("gone/x", "lower");
    tar.file("emptied/x", "lower");
    tar.file("file", "lower");
    tar.file("tree/x", "lower");
  });
  const auto top = tar_of([](RawTar& tar) {
    tar.file("a/replaced", "upper");
    tar.file("a/.wh.removed", "");
    tar.file(".wh.gone", "");
    tar.file("emptied/new", "upper");
    tar.file("emptied/.wh..wh..opq", "");
    tar.file("file/now", "upper");
    tar.file("tree", "upper");
    tar.file(".wh..wh.plnk", "");
  });
  CHECK(paths({base, top}) == "a/ a/kept a/replaced emptied/ emptied/new file/ file/now tree ");
  const auto merged = merge({base, top});
  CHECK(merged.text("a/kept") == "lower");
  CHECK(merged.text("a/replaced") == "upper");
  CHECK(merged.text("tree") == "upper");
  // No contents of hidden files.
  CHECK(merged.contents.size() == 5);
  // A directory without an entry of its own has the facts that a lower layer gives it.
  CHECK((merged.at("a")->mode & 0777U) == 0700);
}

TEST_CASE("a root file system: what a layer hides stays hidden below it") {
  const auto file = tar_of([](RawTar& tar) { tar.file("d/x", "1"); });
  const auto hides = tar_of([](RawTar& tar) { tar.file(".wh.d", ""); });
  const auto again = tar_of([](RawTar& tar) { tar.file("d/y", "3"); });
  CHECK(paths({file, hides, again}) == "d/ d/y ");
  const auto no_directory = tar_of([](RawTar& tar) { tar.file("d", "2"); });
  CHECK(paths({file, no_directory, again}) == "d/ d/y ");
  // Equal layers: the highest one decides.
  CHECK(paths({file, hides, file}) == "d/ d/x ");
  CHECK(paths({hides, file, hides}) == "");
  // In one layer its own files stay, whatever the order.
  const auto both = tar_of([](RawTar& tar) {
    tar.file("d/y", "3");
    tar.file(".wh.d", "");
  });
  CHECK(paths({file, both}) == "d/ d/y ");
  const auto turned = tar_of([](RawTar& tar) {
    tar.file(".wh.d", "");
    tar.file("d/y", "3");
  });
  CHECK(paths({file, turned}) == "d/ d/y ");
}

TEST_CASE("a root file system: hard links share a file") {
  const auto base = tar_of([](RawTar& tar) {
    tar.file("a", "shared");
    tar.hard_link("b", "a");
    tar.hard_link("c", "./b");
  });
  const auto merged = merge({base});
  CHECK(merged.at("a") == merged.at("c"));
  CHECK(merged.at("a")->links == 3);
  CHECK(merged.contents.size() == 1);
  // The name with the contents is hidden: they are read again.
  const auto hides = tar_of([](RawTar& tar) {
    tar.file(".wh.a", "");
    tar.file("b", "other");
  });
  const auto rest = merge({base, hides});
  CHECK(rest.text("c") == "shared");
  CHECK(rest.at("c")->links == 1);
  CHECK(rest.text("b") == "other");
}

TEST_CASE("a root file system: links lead to places in it") {
  const auto layer = tar_of([](RawTar& tar) {
    tar.directory("usr/lib/");
    tar.symlink("lib", "/usr/lib");
    tar.symlink("up", "../../../usr");
    tar.file("lib/x", "1");
    tar.file("up/y", "2");
    tar.symlink("later", "new/place");
    tar.file("later/z", "3");
  });
  CHECK(paths({layer}) ==
        "later lib new/ new/place/ new/place/z up usr/ usr/lib/ usr/lib/x usr/y ");
  CHECK(merge({layer}).text("lib/x") == "1");
  CHECK(image::find_in_root(merge({layer}).root, "lib/none") == nullptr);
}

TEST_CASE("a root file system: owners, modes, times, devices, attributes, odd names") {
  const auto layer = tar_of([](RawTar& tar) {
    tar.attributes({{"security.capability", std::string{"\x01\0\0\x02", 4}},
                    {"security.selinux", "label"},
                    {"trusted.overlay.redirect", "/etc"},
                    {"user.note", "mine"},
                    {"user.overlay.opaque", "y"}});
    tar.add("program", '0', "x", "", 06755, 1234);
    tar.add("null", '3', "", "", 0666, 0, 1, 3);
    tar.add("disk", '4', "", "", 0660, 6, 8, 1);
    tar.add("pipe", '6', "", "", 0600);
    tar.add("hidden", '3', "", "", 0666, 0, 0, 0);
    tar.file("n\xff\nme", "x");
  });
  const auto merged = merge({layer});
  const auto program = merged.at("program");
  CHECK(program->mode == (S_IFREG | 06755U));
  CHECK(program->user == 1234);
  CHECK(program->group == 1234);
  CHECK(program->time == 1'000'000'000);
  CHECK(program->attributes ==
        std::map<std::string, std::string>{{"security.capability", std::string{"\x01\0\0\x02", 4}},
                                           {"user.note", "mine"}});
  CHECK(merged.at("null")->mode == (S_IFCHR | 0666U));
  CHECK(merged.at("null")->device_minor == 3);
  CHECK(merged.at("disk")->mode == (S_IFBLK | 0660U));
  CHECK(merged.at("disk")->device_major == 8);
  CHECK(merged.at("pipe")->mode == (S_IFIFO | 0600U));
  CHECK(merged.at("n\xff\nme")->size == 1);
  CHECK(image::find_in_root(merged.root, "hidden") == nullptr);
}

TEST_CASE("a root file system: hostile layers are refused") {
  const auto one = [](const std::function<void(RawTar & tar)>& fill) {
    return refusal({tar_of(fill)});
  };
  CHECK(one([](RawTar& tar) { tar.file("a/../../x", "1"); }) ==
        "the path `a/../../x` leads out of it");
  CHECK(one([](RawTar& tar) { tar.hard_link("a", "../x"); }) == "the path `../x` leads out of it");
  CHECK(one([](RawTar& tar) { tar.hard_link("a", "etc/passwd"); }) ==
        "`a` is a hard link to `etc/passwd`, which is not a file of this layer");
  CHECK(one([](RawTar& tar) {
          tar.symlink("a", "b");
          tar.symlink("b", "a");
          tar.file("a/x", "1");
        }) == "its symbolic links form a loop");
  CHECK(one([](RawTar& tar) {
          tar.file("a", "1");
          tar.file("a/x", "1");
        }) == "`a` is a file and a directory");
  CHECK(one([](RawTar& tar) { tar.file("x/.wh...", "1"); }) == "it removes a file without a name");
  CHECK(one([](RawTar& tar) {
          std::string deep;
          for (int i = 0; i < 40; ++i) {
            deep += "/d";
          }
          std::string above = "top";
          for (int i = 0; i < 14; ++i) {
            tar.directory(above + deep);
            tar.symlink("l" + std::to_string(i), above + deep);
            above = "l" + std::to_string(i);
          }
        }) == "its directories nest too deeply");
  const auto files = tar_of([](RawTar& tar) {
    tar.file("a", "1234");
    tar.file("b", "1234");
  });
  CHECK(refusal({files}, {.bytes = 7}) == "the files of the image have more than 7 B");
  CHECK(refusal({files}, {.bytes = 8}) == "");
  CHECK(refusal({files}, {.entries = 1}) == "the image has more than 1 entries");
  CHECK(refusal({files}, {.text = 1}) == "the names of its files need more than 1 B");
  auto source = image_of({files});
  source.configuration.replace(source.configuration.find("sha256:") + 7, 4, "0000");
  CHECK_THROWS_AS(image::merge_layers(source, [](const RootFile&, const image::Reader&) {}), Error);
}

}  // namespace autopack::image_root_tree_test
