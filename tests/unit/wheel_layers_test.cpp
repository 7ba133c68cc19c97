#include "base/error.hpp"
#include "image/archive_reader.hpp"
#include "image/file_layer.hpp"
#include "support/temporary_directory.hpp"
#include "support/wheel_archive.hpp"
#include "wheel/layers.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

namespace autopack::wheel_layers_test {

using namespace autopack::wheel;

namespace {

const std::string site{"usr/lib/python3/site-packages"};

/// Returns bytes that compress to about a fifth, different for each `seed`.
std::string text(std::size_t size, unsigned seed = 1) {
  std::string bytes;
  while (bytes.size() < size) {
    seed = seed * 1103515245U + 12345U;
    bytes += "line " + std::to_string(seed % 1000) + " of it\n";
  }
  bytes.resize(size);
  return bytes;
}

Place place() {
  return {.interpreter = {.executable = "/usr/bin/python3",
                          .version = python::Version::parse("3.11.2").value(),
                          .scheme = {.purelib = "/" + site,
                                     .platlib = "/" + site,
                                     .scripts = "/usr/bin",
                                     .headers = "/usr/include",
                                     .data = "/usr"}},
          .directories = {"usr", "usr/bin"},
          .time = 1'700'000'000};
}

ChosenWheel chosen(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  const auto file_name = path.filename().string();
  return {.name = file_name.substr(0, file_name.find('-')),
          .digest = sha256(bytes),
          .size = bytes.size(),
          .file_name = file_name,
          .file = [path] { return path; }};
}

struct Written {
  std::string bytes{};
  image::LayerFacts facts;
};

Written write(const LayerGroup& layer,
              const std::vector<ChosenWheel>& wheels,
              const std::optional<image::LayerFacts>& known = {}) {
  std::string bytes;
  const auto facts = write_layer(
      layer, wheels, place(), [&](std::string_view piece) { bytes += piece; }, known);
  return {.bytes = std::move(bytes), .facts = facts};
}

struct Entry {
  unsigned mode{0};
  std::string bytes{};
};

/// Returns the entries of a layer, read by libarchive, after checking its facts against its bytes.
std::map<std::string, Entry> entries(const Written& layer) {
  CHECK(layer.facts.size == layer.bytes.size());
  CHECK(layer.facts.digest == sha256(layer.bytes));
  const auto diff_id = image::read_contents(
      [rest = std::string_view{layer.bytes}](char* buffer, std::size_t size) mutable {
        const std::size_t count = std::min(size, rest.size());
        std::memcpy(buffer, rest.data(), count);
        rest.remove_prefix(count);
        return count;
      },
      "it", [](const image::ArchiveEntry&, const image::Reader&) {});
  CHECK(layer.facts.diff_id == diff_id);
  const std::unique_ptr<archive, int (*)(archive*)> reader{archive_read_new(), archive_read_free};
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_format_tar(reader.get());
  REQUIRE(archive_read_open_memory(reader.get(), layer.bytes.data(), layer.bytes.size()) ==
          ARCHIVE_OK);
  std::map<std::string, Entry> all;
  archive_entry* entry = nullptr;
  while (archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK) {
    Entry read{.mode = archive_entry_perm(entry)};
    CHECK(archive_entry_mtime(entry) == 1'700'000'000);
    read.bytes.resize(static_cast<std::size_t>(archive_entry_size(entry)));
    CHECK(archive_read_data(reader.get(), read.bytes.data(), read.bytes.size()) ==
          static_cast<la_ssize_t>(read.bytes.size()));
    CHECK(all.emplace(archive_entry_pathname(entry), std::move(read)).second);
  }
  return all;
}

}  // namespace

TEST_CASE("the layer of a wheel holds its files, deflated ones as the wheel has them") {
  const TemporaryDirectory directory;
  const auto large = text(300'000);
  const auto huge = text(20'000'000, 7);
  const auto path = write_wheel(directory.path(), "some",
                                {{.name = "some/large.py", .content = large},
                                 {.name = "some/huge.so", .content = huge, .mode = 0100755},
                                 {.name = "some/stored", .content = large, .is_stored = true},
                                 {.name = "some/small.py", .content = "x = 1\n"},
                                 {.name = "some/empty.py"},
                                 {.name = "some/sub/next", .content = text(16'384)}},
                                "[console_scripts]\nsome = some:main\n");
  const auto layer = write({.wheels = {0}}, {chosen(path)});
  const auto all = entries(layer);
  CHECK(all.at(site + "/some/large.py").bytes == large);
  CHECK(all.at(site + "/some/huge.so").bytes == huge);
  CHECK(all.at(site + "/some/huge.so").mode == 0755);
  CHECK(all.at(site + "/some/stored").bytes == large);
  CHECK(all.at(site + "/some/small.py").bytes == "x = 1\n");
  CHECK(all.at(site + "/some/empty.py").bytes.empty());
  CHECK(all.at("usr/bin/some").mode == 0755);
  CHECK(all.contains(site + "/some-1.0.dist-info/RECORD"));
  for (const char* whole : {"usr/lib/", "usr/lib/python3/"}) {
    CHECK(all.at(whole).mode == 0755);
  }
  CHECK(all.contains(site + "/some/sub/"));
  CHECK_FALSE(all.contains("usr/"));
  CHECK_FALSE(all.contains("usr/bin/"));
  CHECK(layer.bytes.find(deflated(large)) != std::string::npos);
  CHECK(layer.bytes.find(deflated(huge)) != std::string::npos);
  CHECK(layer.bytes.find(deflated(text(16'384))) != std::string::npos);
}

TEST_CASE("a layer that is known has the same bytes, and deflate streams are not decoded") {
  const TemporaryDirectory directory;
  const auto large = text(300'000);
  const auto path =
      write_wheel(directory.path(), "some",
                  {{.name = "some.py", .content = large},
                   {.name = "stored.py", .content = text(70'000), .is_stored = true}});
  const std::vector wheels{chosen(path)};
  const auto first = write({.wheels = {0}}, wheels);
  CHECK(write({.wheels = {0}}, wheels).bytes == first.bytes);
  const auto second = write({.wheels = {0}}, wheels, first.facts);
  CHECK(second.bytes == first.bytes);
  CHECK(second.facts.digest == first.facts.digest);
  CHECK(second.facts.diff_id == first.facts.diff_id);
  CHECK(second.facts.tar_size == first.facts.tar_size);

  auto damaged = read_file(path);
  damaged[damaged.find(deflated(large)) + 1000] ^= 0x55;
  write_file(path, damaged);
  CHECK_THROWS_AS(write({.wheels = {0}}, wheels), Error);
  CHECK(write({.wheels = {0}}, wheels, first.facts).facts.digest != first.facts.digest);
}

TEST_CASE("a wheel whose bytes are not those of RECORD gives no layer") {
  const TemporaryDirectory directory;
  for (const std::size_t size : {10U, 300'000U}) {
    const auto path =
        write_wheel(directory.path(), "liar", {{.name = "a.py", .content = text(size)}});
    std::vector<ArchivedFile> files{{.name = "a.py", .content = text(size, 9)}};
    const auto whole = Wheel::open(path, path.filename().string());
    for (const auto& member : whole.zip().members()) {
      if (member.name != "a.py") {
        files.push_back({.name = member.name, .content = whole.zip().text(member, 10'000)});
      }
    }
    write_file(path, zip_archive(files));
    CHECK_THROWS_WITH_AS(write({.wheels = {0}}, {chosen(path)}),
                         "`liar-1.0-py3-none-any.whl` cannot be installed", Error);
  }
}

TEST_CASE("parts of a wheel hold all its files together") {
  const TemporaryDirectory directory;
  const auto path =
      write_wheel(directory.path(), "some",
                  {{.name = "a.py", .content = text(20'000)}, {.name = "b.py"}, {.name = "c.py"}});
  const std::vector wheels{chosen(path)};
  const auto whole = entries(write({.wheels = {0}}, wheels));
  std::map<std::string, Entry> parts;
  for (const auto& part : {std::pair{0, 1}, std::pair{1, 3}, std::pair{3, 99}}) {
    for (const auto& entry : entries(write({.wheels = {0}, .part = part}, wheels))) {
      CHECK((parts.insert(entry).second || entry.first.ends_with("/")));
    }
  }
  REQUIRE(parts.size() == whole.size());
  CHECK(std::equal(parts.begin(), parts.end(), whole.begin(), [](const auto& a, const auto& b) {
    return a.first == b.first && a.second.bytes == b.second.bytes;
  }));
}

TEST_CASE("of wheels that share a file the later one's is in the layer, once") {
  const TemporaryDirectory directory;
  const std::vector wheels{
      chosen(write_wheel(directory.path(), "first", {{.name = "ns.py", .content = "1"}})),
      chosen(write_wheel(directory.path(), "second", {{.name = "ns.py", .content = "2"}}))};
  const auto grouping = group(wheels, place(), 5);
  REQUIRE(grouping.layers.size() == 1);
  CHECK(grouping.warnings.size() == 1);
  const auto all = entries(write(grouping.layers[0], wheels));
  CHECK(all.at(site + "/ns.py").bytes == "2");
  CHECK(all.contains(site + "/first-1.0.dist-info/RECORD"));
}

TEST_CASE("the key of a layer changes with all that its bytes depend on") {
  const TemporaryDirectory directory;
  const std::vector wheels{chosen(write_wheel(directory.path(), "one", {{.name = "a.py"}})),
                           chosen(write_wheel(directory.path(), "two", {{.name = "b.py"}}))};
  const LayerGroup layer{.wheels = {0}};
  std::set<std::string> keys{layer_key(layer, wheels, place())};
  CHECK(keys.contains(layer_key(layer, {wheels[0]}, place())));
  CHECK(keys.insert(layer_key({.wheels = {0, 1}}, wheels, place())).second);
  CHECK(keys.insert(layer_key({.wheels = {1, 0}}, wheels, place())).second);
  CHECK(keys.insert(layer_key({.wheels = {0}, .part = {{0, 1}}}, wheels, place())).second);
  const auto with_place = [&](const auto& change) {
    auto other = place();
    change(other);
    return keys.insert(layer_key(layer, wheels, other)).second;
  };
  CHECK(with_place([](Place& other) { other.time = 0; }));
  CHECK(with_place([](Place& other) { other.directories.erase("usr"); }));
  CHECK(with_place([](Place& other) { other.interpreter.executable = "/usr/bin/python"; }));
  CHECK(with_place([](Place& other) { other.interpreter.scheme.purelib += "x"; }));
  CHECK(with_place([](Place& other) { other.interpreter.scheme.platlib += "x"; }));
  CHECK(with_place([](Place& other) { other.interpreter.scheme.scripts += "x"; }));
  CHECK(with_place([](Place& other) { other.interpreter.scheme.headers += "x"; }));
  CHECK(with_place([](Place& other) { other.interpreter.scheme.data += "x"; }));
  const auto with_wheel = [&](const auto& change) {
    auto others = wheels;
    change(others[0]);
    return keys.insert(layer_key(layer, others, place())).second;
  };
  CHECK(with_wheel([](ChosenWheel& other) { other.digest = sha256("other"); }));
  CHECK(with_wheel([](ChosenWheel& other) { other.options.is_requested = true; }));
  CHECK(with_wheel([](ChosenWheel& other) { other.options.direct_url = ""; }));
  CHECK(with_wheel([](ChosenWheel& other) { other.options.header_name = "one"; }));
  CHECK(grouping_key(wheels, place(), 5) != grouping_key(wheels, place(), 6));
  CHECK(grouping_key(wheels, place(), 5) != grouping_key({wheels[1], wheels[0]}, place(), 5));
}

TEST_CASE("a layer of whiteouts removes what it names") {
  std::string bytes;
  const std::set<std::string> paths{"usr/lib/old.py", "old"};
  const auto facts =
      write_removal(paths, 1'700'000'000, [&](std::string_view piece) { bytes += piece; });
  const auto all = entries({.bytes = bytes, .facts = facts});
  CHECK(all.size() == 2);
  CHECK(all.at("usr/lib/.wh.old.py").bytes.empty());
  CHECK(all.contains(".wh.old"));
  CHECK(removal_key(paths, 1) != removal_key({"old"}, 1));
}

TEST_CASE("a stream with other bytes ends a layer") {
  image::FileLayer layer{[](std::string_view) {}};
  const auto content = text(20'000);
  const auto standing_for = [&](std::string text) {
    return [stream = deflated(content), text = std::move(text)](
               const image::Deflated::Take& take_stream, const image::Deflated::Take& take) {
      take_stream(stream);
      take(text);
    };
  };
  image::Deflated file{
      .size = content.size(), .crc = image::crc32(0, content), .read = standing_for(content)};
  layer.add_deflated("good", 0644, file);
  file.read = standing_for(text(20'000, 3));
  CHECK_THROWS_AS(layer.add_deflated("bad", 0644, file), Error);
}

TEST_CASE("an invalid deflate stream, or one of another size, is reported") {
  for (const std::size_t size : {0U, 1U, 100'000U, 20'000'000U}) {
    CAPTURE(size);
    const auto content = text(size);
    const auto stream = deflated(content);
    const auto inflated = [&](const std::string& from, std::uint64_t from_size,
                              std::uint64_t to_size) -> std::optional<std::string> {
      std::string bytes;
      const image::Reader reader = [rest = std::string_view{from}](char* buffer,
                                                                   std::size_t room) mutable {
        const std::size_t count = std::min({room, rest.size(), std::size_t{77'777}});
        std::memcpy(buffer, rest.data(), count);
        rest.remove_prefix(count);
        return count;
      };
      const bool ok = image::inflate(reader, from_size, to_size,
                                     [&](std::string_view piece) { bytes += piece; });
      return ok ? std::optional{bytes} : std::nullopt;
    };
    CHECK(inflated(stream, stream.size(), size) == content);
    CHECK_FALSE(inflated(stream, stream.size() - 1, size));
    CHECK_FALSE(inflated(stream + "x", stream.size() + 1, size));
    CHECK_FALSE(inflated(stream, stream.size() + 1, size));
    CHECK_FALSE(inflated(stream, stream.size(), size + 1));
    if (size > 0) {
      CHECK_FALSE(inflated(stream, stream.size(), size - 1));
    }
    const image::Reader reader = [rest = std::string_view{stream}](char* buffer,
                                                                   std::size_t room) mutable {
      const std::size_t count = std::min(room, rest.size());
      std::memcpy(buffer, rest.data(), count);
      rest.remove_prefix(count);
      return count;
    };
    CHECK(image::inflate_beginning(reader, 9) == content.substr(0, 9));
  }
}

}  // namespace autopack::wheel_layers_test
