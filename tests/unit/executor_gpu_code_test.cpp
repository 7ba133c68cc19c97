#include "base/error.hpp"
#include "executor/gpu_code.hpp"
#include "image/layer_tree.hpp"
#include "support/gpu_library.hpp"
#include "support/raw_tar.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::executor::executor_gpu_code_test {

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

/// Returns a library with code for 7.5 and a payload of `size` bytes.
std::string library_of(std::size_t size) {
  return gpu_library(
      {.containers = {gpu_container({{.architecture = 75, .payload = std::string(size, 'x')}})}});
}

image::Reader layer_of(const Files& files) {
  RawTar tar;
  for (const auto& [path, content] : files) {
    tar.add(path, '0', content);
  }
  return [bytes = tar.bytes(), at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const std::size_t count = bytes.copy(buffer, size, at);
    at += count;
    return count;
  };
}

/// Returns how the libraries of a layer are read, by path: `75`, or `damaged`.
std::map<std::string, std::string> read(const Files& files, std::uint64_t most_read) {
  image::LayerTree tree{{}, excerpts_of_gpu_code(most_read), 1};
  tree.add(layer_of(files), "a layer");
  std::map<std::string, std::string> found;
  for (const auto& library : gpu_libraries(tree)) {
    found[library.path] = library.code.is_damaged ? "damaged" : gpu::architectures_of(library.code);
  }
  return found;
}

using Found = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("libraries are read until the budget of an image is spent, and are unknown then") {
  const auto library = library_of(100'000);
  const Files files{{"a/1.so", library}, {"a/2.so", library}, {"a/3.so", library}};
  CHECK(read(files, 1'000'000) == Found{{"/a/1.so", "75"}, {"/a/2.so", "75"}, {"/a/3.so", "75"}});
  CHECK(read(files, library.size() + 1000) ==
        Found{{"/a/1.so", "75"}, {"/a/2.so", "damaged"}, {"/a/3.so", "damaged"}});
  CHECK(read(files, 0) ==
        Found{{"/a/1.so", "damaged"}, {"/a/2.so", "damaged"}, {"/a/3.so", "damaged"}});
}

TEST_CASE("only files with the names of libraries are read") {
  const auto library = library_of(100);
  CHECK(read({{"a.so", library},
              {"b.so.9", library},
              {"c.so.txt", library},
              {"d.source", library},
              {"e.so.", library},
              {"f.so/g", library},
              {"h.some.so.1.2", library}},
             1'000'000) == Found{{"/a.so", "75"}, {"/b.so.9", "75"}, {"/h.some.so.1.2", "75"}});
}

TEST_CASE("a file that is no ELF file costs no more than its first bytes") {
  const auto library = library_of(100);
  CHECK(read({{"text.so", std::string(1'000'000, 'x')}, {"z.so", library}}, 200'000) ==
        Found{{"/z.so", "75"}});
}

TEST_CASE("reading GPU code does not count among what other excerpts may read") {
  const auto library = library_of(100'000);
  const auto take = [](const image::ArchiveEntry& entry, const image::Reader& content) {
    std::string text(10, '\0');
    if (entry.path != "text") {
      return std::optional<std::string>{};
    }
    text.resize(content(text.data(), text.size()));
    return std::optional{text};
  };
  const Files files{{"a.so", library}, {"text", std::string(1000, 'x')}};
  image::LayerTree tree{take, excerpts_of_gpu_code(), 10};
  tree.add(layer_of(files), "a layer");
  CHECK(tree.excerpt("/text") == std::string(10, 'x'));
  CHECK(gpu_libraries(tree).size() == 1);
  image::LayerTree small{take, excerpts_of_gpu_code(), 9};
  CHECK_THROWS_WITH_AS(small.add(layer_of(files), "a layer"),
                       doctest::Contains("a layer cannot be searched"), Error);
}

}  // namespace autopack::executor::executor_gpu_code_test
