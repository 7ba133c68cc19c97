#include "gpu/code_reader.hpp"
#include "support/gpu_library.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::gpu_code_test {

using namespace autopack::gpu;

namespace {

std::optional<LibraryCode> read(std::string_view bytes, std::size_t piece) {
  CodeReader reader;
  while (!bytes.empty()) {
    reader.take(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return reader.finish();
}

/// Reads `bytes` in pieces of several sizes, which must not matter.
LibraryCode code_of(std::string_view bytes) {
  const auto whole = read(bytes, bytes.size());
  for (const std::size_t piece : {1U, 7U, 64U, 100U, 4096U, 5000U}) {
    CAPTURE(piece);
    CHECK(read(bytes, piece) == whole);
  }
  REQUIRE(whole);
  return *whole;
}

Architecture plain(unsigned number) {
  return {.number = number};
}

}  // namespace

TEST_CASE("a library's GPU code is counted by kind and architecture") {
  const auto library = gpu_library(
      {.needed = {"libc.so.6", "libcudart.so.12"},
       .containers = {
           gpu_container({{.architecture = 75, .payload = std::string(8, 'a')},
                          {.architecture = 90, .flags = 0x100011, .header = 112},
                          {.architecture = 103, .flags = 0x1208011, .header = 80},
                          {.kind = 0x10, .architecture = 75, .payload = std::string(24, 'b')},
                          {.kind = 1, .architecture = 120, .payload = std::string(16, 'c')}}),
           gpu_container({{.architecture = 75, .payload = std::string(100'000, 'd')}})}});
  const auto found = code_of(library);
  CHECK_FALSE(found.is_damaged);
  CHECK(found.cuda == 12);
  using Variant = Architecture::Variant;
  CHECK(
      found.code ==
      std::vector<Code>{
          {.architecture = plain(75), .count = 3, .bytes = 3 * 64 + 8 + 24 + 100'000},
          {.architecture = {.number = 90, .variant = Variant::specific}, .count = 1, .bytes = 152},
          {.architecture = {.number = 103, .variant = Variant::family}, .count = 1, .bytes = 120},
          {.kind = CodeKind::ptx, .architecture = plain(120), .count = 1, .bytes = 80}});
}

TEST_CASE("a container inside a payload is no code of the library") {
  const auto inner = gpu_container({{.architecture = 50}});
  const auto found = code_of(
      gpu_library({.containers = {gpu_container({{.architecture = 80, .payload = inner}})}}));
  REQUIRE(found.code.size() == 1);
  CHECK(found.code.front().architecture == plain(80));
  CHECK_FALSE(found.is_damaged);
}

TEST_CASE("entries of other kinds are stepped over") {
  const auto found =
      code_of(gpu_library({.containers = {gpu_container({{.kind = 8, .architecture = 0, .flags = 0},
                                                         {.architecture = 86}})}}));
  REQUIRE(found.code.size() == 1);
  CHECK(found.code.front().count == 1);
  CHECK_FALSE(found.is_damaged);
}

TEST_CASE("the CUDA version is that of a library which the dynamic section names") {
  const auto version = [](const GpuLibrary& library) {
    auto last = library;
    last.has_names_last = true;
    last.containers.push_back(gpu_container({{.architecture = 90}}));
    const auto found = code_of(gpu_library(library)).cuda;
    CHECK(code_of(gpu_library(last)).cuda == found);
    return found;
  };
  CHECK(version({.needed = {"libcublas.so.11", "libm.so.6"}}) == 11);
  CHECK(version({.needed = {"libcublasLt.so.13"}, .own_name = "libx.so"}) == 13);
  CHECK(version({.own_name = "libcudart.so.13"}) == 13);
  CHECK(version({.needed = {"libcudart.so.12", "libcublas.so.12"}}) == 12);
  CHECK_FALSE(version({.needed = {"libcudart.so.12", "libcublas.so.11"}}));
  CHECK_FALSE(version({.needed = {"libcudart.so.11.0x"}}));
  CHECK_FALSE(version({.needed = {"libcudnn.so.9"}}));
  CHECK_FALSE(version({.needed = {"libcufft.so.12"}}));
  // A text that no entry of the dynamic section means:
  CHECK_FALSE(version({.needed = {"libx.so.1 libcudart.so.12"}}));
}

TEST_CASE("only 64-bit ELF files have GPU code") {
  const auto container = gpu_container({{.architecture = 75}});
  const std::string elf{
      "\x7f"
      "ELF"};
  std::vector<std::string> texts{"", elf};
  texts.push_back(std::string(5000, '\0') + container);
  texts.push_back(elf + "\x01\x01" + container);
  texts.push_back("PK" + container);
  for (const auto& text : texts) {
    CHECK_FALSE(read(text, 100));
    CHECK_FALSE(read(text, 1));
  }
  CHECK(code_of(gpu_library({})).code.empty());
}

TEST_CASE("a library that contradicts itself is damaged, and what is certain is kept") {
  const auto good = gpu_container({{.architecture = 75}});
  const auto library = gpu_library({.containers = {good, gpu_container({{.architecture = 80}})}});
  const auto cut = code_of(std::string_view{library}.substr(0, library.size() - 20));
  CHECK(cut.is_damaged);
  CHECK(cut.code.front().architecture == plain(75));

  auto lying = gpu_container({{.architecture = 80}});
  lying.replace(16 + 8, 8, little_endian(~std::uint64_t{0}, 8));
  const auto entry = code_of(gpu_library({.containers = {lying, good}}));
  CHECK(entry.is_damaged);
  CHECK(entry.code.size() == 1);

  auto endless = good;
  endless.replace(8, 8, little_endian(~std::uint64_t{0}, 8));
  CHECK(code_of(gpu_library({.containers = {endless, good}})).is_damaged);

  const auto odd = code_of(gpu_library({.containers = {gpu_container({{.architecture = 5}})}}));
  CHECK(odd.is_damaged);
  CHECK(odd.code.empty());
}

TEST_CASE("a million containers and every architecture are read in constant memory") {
  const auto container = gpu_container({{.architecture = 75, .payload = {}}});
  std::string many;
  for (int i = 0; i < 1000; ++i) {
    many += container;
  }
  CodeReader reader;
  reader.take(gpu_library({}));
  reader.take(std::string(8, '\0'));
  for (int i = 0; i < 1000; ++i) {
    reader.take(many);
  }
  const auto found = reader.finish();
  REQUIRE(found);
  REQUIRE(found->code.size() == 1);
  CHECK(found->code.front().count == 1'000'000);
  CHECK_FALSE(found->is_damaged);

  std::vector<GpuEntry> entries;
  for (unsigned number = 10; number < 1000; ++number) {
    entries.push_back({.architecture = number});
  }
  const auto all = code_of(gpu_library({.containers = {gpu_container(entries)}}));
  CHECK(all.code.size() == 100);
  CHECK(all.is_damaged);
}

TEST_CASE("GPU code comes back from its JSON") {
  const std::vector<Library> libraries{
      {.path = "a/lib.so",
       .size = 100,
       .code =
           {.code = {{.architecture = {.number = 90, .variant = Architecture::Variant::specific},
                      .count = 2,
                      .bytes = 30},
                     {.kind = CodeKind::ptx, .architecture = plain(90), .count = 1, .bytes = 5}},
            .cuda = 12,
            .is_damaged = true}},
      {.path = "b.so"}};
  CHECK(libraries_from_json(to_json(libraries)) == libraries);
  CHECK(libraries_from_json(to_json(std::vector<Library>{}))->empty());
  for (
      const auto* const text :
      {"", "{}", "[]", R"({"version": 2, "libraries": []})", R"({"version": 1, "libraries": [1]})",
       R"({"version": 1, "libraries": [{"path": "x", "size": 1, "code": [["cubin", "9", 1, 1]]}]})",
       R"({"version": 1, "libraries": [{"path": "x", "size": 1, "code": [["ptx"]]}]})"}) {
    CAPTURE(text);
    CHECK_FALSE(libraries_from_json(text));
  }
}

}  // namespace autopack::gpu_code_test
