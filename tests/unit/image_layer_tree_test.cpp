#include "base/error.hpp"
#include "base/text.hpp"
#include "executor/programs.hpp"
#include "image/layer.hpp"
#include "image/layer_tree.hpp"
#include "image/tar.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <optional>

namespace autopack::image_layer_tree_test {

using image::LayerTree;
using image::TarWriter;

namespace {

using Fill = std::function<void(TarWriter& tar)>;

std::string tar_of(const Fill& fill) {
  std::string bytes;
  TarWriter tar{[&](std::string_view piece) { bytes += piece; }};
  fill(tar);
  tar.finish();
  return bytes;
}

std::string gzip_of(const std::string& tar) {
  std::string bytes;
  image::LayerWriter writer{[&](std::string_view piece) { bytes += piece; }};
  writer.write(tar);
  writer.finish();
  return bytes;
}

image::Reader reader_of(std::string bytes) {
  return [bytes = std::move(bytes), at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const std::size_t count = bytes.copy(buffer, size, at);
    at += count;
    return count;
  };
}

LayerTree tree_of(const std::vector<Fill>& layers) {
  LayerTree tree;
  for (const auto& fill : layers) {
    tree.add(reader_of(tar_of(fill)), "a layer");
  }
  return tree;
}

void program(TarWriter& tar, const char* path) {
  tar.add_file(path, 0755, "x");
}

using Found = std::map<std::string, std::optional<std::string>>;

}  // namespace

TEST_CASE("a tree lists files and resolves links") {
  const auto tree = tree_of({[](TarWriter& tar) {
    tar.add_symlink("bin", "usr/bin");
    program(tar, "./usr/bin/python3.11");
    tar.add_symlink("usr/bin/python3", "python3.11");
    tar.add_symlink("usr/bin/python", "/etc/alternatives/python");
    tar.add_symlink("etc/alternatives/python", "../../bin/python3");
    tar.add_symlink("usr/bin/gone", "nowhere");
    tar.add_symlink("round", "round");
    tar.add_file("usr/bin/data", 0644, "not a program");
  }});
  CHECK(tree.look({"/usr/bin/python3.11", "/bin/python3", "/usr/bin/python", "/usr/bin/gone",
                   "/usr/bin/data", "/usr/bin", "/none"}) ==
        Found{{"/usr/bin/python3.11", std::nullopt},
              {"/bin/python3", "/usr/bin/python3.11"},
              {"/usr/bin/python", "/usr/bin/python3.11"},
              {"/usr/bin/gone", "/usr/bin/nowhere"}});
  CHECK(tree.look({"/round/x"}).empty());
}

TEST_CASE("layers take away what lower ones have") {
  const Fill base = [](TarWriter& tar) {
    program(tar, "opt/a/python3");
    program(tar, "opt/b/python3");
    program(tar, "opt/c/deep/python3");
    program(tar, "opt/bc");
    tar.add_symlink("opt/link", "a");
  };
  const auto left = [&](const Fill& upper) {
    const std::vector<std::string> paths{"/opt/a/python3", "/opt/b/python3", "/opt/c/deep/python3",
                                         "/opt/bc",        "/opt/link",      "/opt/link/python3"};
    std::string names;
    for (const auto& [path, target] : tree_of({base, upper}).look(paths)) {
      names += path.substr(4) + " ";
    }
    return names;
  };
  CHECK(left([](TarWriter&) {}) ==
        "/a/python3 /b/python3 /bc /c/deep/python3 /link /link/python3 ");
  SUBCASE("a whiteout takes a file") {
    CHECK(left([](TarWriter& tar) { tar.add_file("opt/.wh.bc", 0644, ""); }) ==
          "/a/python3 /b/python3 /c/deep/python3 /link /link/python3 ");
  }
  SUBCASE("a whiteout takes a directory, not what begins alike") {
    CHECK(left([](TarWriter& tar) { tar.add_file("opt/.wh.b", 0644, ""); }) ==
          "/a/python3 /bc /c/deep/python3 /link /link/python3 ");
  }
  SUBCASE("a whiteout spares its own layer, in any order") {
    CHECK(left([](TarWriter& tar) {
            program(tar, "opt/b/python3");
            tar.add_file("opt/.wh.b", 0644, "");
          }) == "/a/python3 /b/python3 /bc /c/deep/python3 /link /link/python3 ");
  }
  SUBCASE("an opaque directory hides all below, in any order") {
    CHECK(left([](TarWriter& tar) {
            program(tar, "opt/c/deep/python3");
            tar.add_file("opt/.wh..wh..opq", 0644, "");
          }) == "/c/deep/python3 ");
  }
  SUBCASE("a file in place of a directory") {
    CHECK(left([](TarWriter& tar) { tar.add_file("opt/c", 0644, ""); }) ==
          "/a/python3 /b/python3 /bc /link /link/python3 ");
  }
  SUBCASE("a directory in place of a link") {
    CHECK(left([](TarWriter& tar) { tar.add_directory("opt/link"); }) ==
          "/a/python3 /b/python3 /bc /c/deep/python3 ");
    CHECK(left([](TarWriter& tar) { program(tar, "opt/link/tool"); }) ==
          "/a/python3 /b/python3 /bc /c/deep/python3 ");
  }
}

TEST_CASE("layers are read plain and compressed, others are refused") {
  const std::string tar = tar_of([](TarWriter& out) { program(out, "usr/bin/python3"); });
  const std::string zstd{"\x28\xb5\x2f\xfd\x24\x00\x01\x00\x00\x99\xe9\xd8\x51",
                         13};  // RFC 8878: an empty frame
  LayerTree tree;
  tree.add(reader_of(gzip_of(tar)), "a layer");
  CHECK(tree.look({"/usr/bin/python3"}).size() == 1);
  tree.add(reader_of(zstd), "a layer");
  CHECK_THROWS_AS(tree.add(reader_of(std::string(2000, 'x')), "a layer"), Error);
  CHECK_THROWS_AS(tree.add(reader_of(gzip_of(tar).substr(0, 60)), "a layer"), Error);
}

TEST_CASE("an error of the reader passes through") {
  const image::Reader broken = [](char*, std::size_t) -> std::size_t {
    throw Error(ErrorKind::remote, "the line broke");
  };
  LayerTree tree;
  CHECK_THROWS_WITH(tree.add(broken, "a layer"), "the line broke");
}

TEST_CASE("modules are found where the interpreter's packages lie") {
  const std::map<std::string, std::string> files{
      {"/usr/bin/python3", "/usr/bin/python3.11"},
      {"/usr/bin/python3.11", ""},
      {"/usr/lib/python3/dist-packages", ""},
      {"/usr/lib/python3/dist-packages/numpy", ""},
      {"/usr/lib/python3/dist-packages/six.py", ""},
      {"/usr/local/lib/python3.11/dist-packages", ""},
      {"/usr/local/lib/python3.11/dist-packages/google/cloud/storage", ""},
      {"/usr/lib/python3.9/site-packages/old", ""}};
  const auto look = [&](const std::vector<std::string>& paths) {
    std::map<std::string, std::optional<std::string>> found;
    for (const auto& path : paths) {
      if (const auto file = files.find(path); file != files.end()) {
        found.emplace(file->first, non_empty(file->second));
      }
    }
    return found;
  };
  const std::vector<std::string> asked{"google.cloud.storage", "numpy", "old", "six", "yaml"};
  CHECK(executor::find_modules({}, asked, look) ==
        std::vector<std::string>{"google.cloud.storage", "numpy", "six"});
  CHECK(executor::find_modules({"PATH=/opt/bin"}, asked, look).empty());
  CHECK(executor::find_contents(
            {}, {"file:/usr/lib/python3.9", "file:/usr/lib/python3/dist-packages/six.py", "six"},
            look) == std::vector<std::string>{"six", "file:/usr/lib/python3/dist-packages/six.py"});
}

TEST_CASE("the interpreter's version is found without running it") {
  const auto version = [](const std::map<std::string, std::string>& files,
                          std::vector<std::string> environment) {
    image::BaseFacts facts{.environment = std::move(environment)};
    executor::find_programs(facts, [&](const std::vector<std::string>& paths) {
      std::map<std::string, std::optional<std::string>> found;
      for (const auto& path : paths) {
        if (const auto file = files.find(path); file != files.end()) {
          found.emplace(file->first, non_empty(file->second));
        }
      }
      return found;
    });
    return facts.python_version;
  };
  std::map<std::string, std::string> files{{"/usr/local/bin/python3", "/usr/local/bin/python3.11"},
                                           {"/usr/local/bin/python3.11", ""}};
  CHECK(version(files, {}) == "3.11");
  CHECK(version(files, {"PYTHON_VERSION=3.11.9"}) == "3.11.9");
  CHECK(version(files, {"PYTHON_VERSION=3.12.1"}) == "3.11");
  files = {{"/opt/conda/bin/python", ""}, {"/opt/conda/lib/python3.10", ""}};
  CHECK(version(files, {"PATH=/opt/conda/bin"}) == "3.10");
  files["/opt/conda/lib/python3.9"] = "";
  CHECK_FALSE(version(files, {"PATH=/opt/conda/bin", "PYTHON_VERSION=3.9.1"}).has_value());
  CHECK_FALSE(version({}, {"PYTHON_VERSION=3.9.1"}).has_value());
}

TEST_CASE("facts come from configuration and layers") {
  const std::string plain = tar_of([](TarWriter& tar) {
    program(tar, "usr/bin/apt-get");
    program(tar, "opt/venv/bin/python3.12");
    tar.add_symlink("opt/venv/bin/python3", "python3.12");
    tar.add_file("opt/venv/lib/python3.12/site-packages/pip/__init__.py", 0644, "");
  });
  const std::string plain_upper = tar_of([](TarWriter& tar) {
    tar.add_file("opt/venv/lib/python3.12/site-packages/.wh.pip", 0644, "");
  });
  const std::string layer = gzip_of(plain);
  const std::string upper = gzip_of(plain_upper);
  image::Source source{.name = "example/base:1",
                       .digest = sha256("manifest"),
                       .manifest = {.config = {.digest = sha256("configuration")}}};
  const auto configure = [&](const std::vector<std::string>& diff_ids) {
    source.configuration =
        R"({"os":"linux","architecture":"arm64","variant":"v8","rootfs":{"type":"layers",)"
        R"("diff_ids":[")" +
        join(diff_ids, R"(",")") +
        R"("]},"config":{"User":"me","Env":["PATH=/opt/venv/bin:/usr/bin","CUDA_VERSION=12.1"],)"
        R"("Entrypoint":["x"]}})";
  };
  configure({sha256(plain).str()});
  const auto add = [&](const std::string& bytes) {
    source.manifest.layers.push_back({.digest = sha256(bytes), .size = bytes.size()});
  };
  add(layer);
  source.open = [&](const image::Descriptor& blob) {
    return image::verified(reader_of(blob.digest == sha256(layer) ? layer : upper), blob, "here");
  };
  const auto facts = executor::read_facts(source);
  CHECK(facts.python == "python3");
  CHECK(facts.python_version == "3.12");
  CHECK(facts.pip);
  CHECK(facts.apt);
  CHECK(facts.platform == "linux/arm64/v8");
  CHECK(facts.user == "me");
  CHECK(facts.cuda_version == "12.1");
  CHECK(facts.entrypoint == std::vector<std::string>{"x"});
  CHECK(facts.digest == source.digest);
  add(upper);
  CHECK_THROWS_WITH_AS(executor::read_facts(source), "image `example/base:1` is broken", Error);
  configure({sha256(plain).str(), sha256(plain).str()});
  CHECK_THROWS_WITH_AS(executor::read_facts(source), "image `example/base:1` is broken", Error);
  configure({sha256(plain).str(), sha256(plain_upper).str()});
  CHECK_FALSE(executor::read_facts(source).pip);
  source.manifest.layers.back().size += 1;
  CHECK_THROWS_AS(executor::read_facts(source), Error);
}

TEST_CASE("paths that no file system supports are refused, and long names cost only their size") {
  const std::string up = [] {
    std::string text;
    for (int i = 0; i < 400'000; ++i) {
      text += "../";
    }
    return text;
  }();
  for (const Fill& fill : {Fill{[&](TarWriter& tar) { tar.add_symlink("usr/bin/python3", up); }},
                           Fill{[&](TarWriter& tar) { program(tar, (up + "python3").c_str()); }}}) {
    CHECK_THROWS_AS(tree_of({fill}), Error);
  }
  const auto begin = std::chrono::steady_clock::now();
  std::string deep;
  for (int i = 0; i < 500; ++i) {
    deep += "d/";
  }
  const auto tree = tree_of({[&](TarWriter& tar) { program(tar, (deep + "python3").c_str()); },
                             [&](TarWriter& tar) {
                               for (int i = 0; i < 5'000; ++i) {
                                 program(tar, (std::to_string(i) + "/" + deep + "x").c_str());
                               }
                             }});
  CHECK(tree.look({"/" + deep + "python3"}).size() == 1);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{20});
}

namespace {

/// Converts the entry `name` of a tar from a symbolic link to a hard link.
std::string with_hard_link(std::string tar, const std::string& name) {
  constexpr std::size_t type = 156;
  constexpr std::size_t sum = 148;
  const auto header = tar.find(name + std::string(1, '\0'));
  REQUIRE(header % 512 == 0);
  tar[header + type] = '1';
  tar.replace(header + sum, 8, "        ");
  unsigned total = 0;
  for (std::size_t i = 0; i < 512; ++i) {
    total += static_cast<unsigned char>(tar[header + i]);
  }
  tar.replace(header + sum, 7, fmt::format("{:06o}", total) + std::string(1, '\0'));
  return tar;
}

std::optional<std::string> excerpt_of_text(const image::ArchiveEntry& entry,
                                           const image::Reader& content) {
  if (entry.type == image::ArchiveEntry::Type::directory) {
    return entry.path.ends_with("kept") ? std::optional{std::string{"directory"}} : std::nullopt;
  }
  if (!entry.path.ends_with(".txt")) {
    return std::nullopt;
  }
  std::string text(100, '\0');
  text.resize(content(text.data(), text.size()));
  return text;
}

}  // namespace

TEST_CASE("excerpts about files follow links, layers and hard links") {
  const auto add = [](LayerTree& tree, const Fill& fill) {
    tree.add(reader_of(tar_of(fill)), "a layer");
  };
  LayerTree tree{excerpt_of_text};
  add(tree, [](TarWriter& tar) {
    tar.add_directory("a/kept");
    tar.add_directory("a/other");
    tar.add_file("a/kept/x.txt", 0644, "lower");
    tar.add_file("a/kept/y.txt", 0644, "stays");
    tar.add_file("a/kept/z", 0644, "no excerpt");
    tar.add_symlink("link", "a/kept");
  });
  tree.add(reader_of(with_hard_link(tar_of([](TarWriter& tar) {
                                      tar.add_directory("a/kept");
                                      tar.add_file("a/kept/x.txt", 0644, "upper");
                                      tar.add_symlink("hard.txt", "a/kept/y.txt");
                                    }),
                                    "hard.txt")),
           "a layer");
  CHECK(tree.excerpt("/link/x.txt") == "upper");
  CHECK(tree.excerpt("/hard.txt") == "stays");
  CHECK(tree.excerpt("/a/kept") == "directory");
  CHECK_FALSE(tree.excerpt("/a/other"));
  CHECK_FALSE(tree.excerpt("/a/kept/z"));
  CHECK(tree.excerpts_below("/link") == std::vector<std::string>{"/a/kept/x.txt", "/a/kept/y.txt"});
  CHECK(tree.excerpts_below("/") ==
        std::vector<std::string>{"/a/kept", "/a/kept/x.txt", "/a/kept/y.txt", "/hard.txt"});
  CHECK(tree.holds_below("/a"));
  CHECK_FALSE(tree.holds_below("/a/k"));
  add(tree, [](TarWriter& tar) { tar.add_file("a/.wh.kept", 0644, ""); });
  CHECK(tree.excerpts_below("/a").empty());
  tree.add_into("/b/c",
                reader_of(tar_of([](TarWriter& tar) { tar.add_file("d/x.txt", 0644, "inside"); })),
                "a directory");
  CHECK(tree.excerpt("/b/c/d/x.txt") == "inside");
}

}  // namespace autopack::image_layer_tree_test
