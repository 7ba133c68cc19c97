#include "base/digest.hpp"
#include "base/error.hpp"
#include "image/tar.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace autopack::image_tar_test {

using image::TarWriter;

namespace {

struct Read {
  std::string path{};
  std::string link{};
  unsigned mode{0};
  std::int64_t size{0};
  std::int64_t time{0};
  std::string text{};
};

std::vector<Read> read_tar(const std::string& bytes) {
  const std::unique_ptr<archive, int (*)(archive*)> reader{archive_read_new(), archive_read_free};
  archive_read_support_format_tar(reader.get());
  REQUIRE(archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) == ARCHIVE_OK);
  std::vector<Read> all;
  archive_entry* entry = nullptr;
  while (archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK) {
    Read read;
    read.path = archive_entry_pathname(entry);
    const char* link = archive_entry_symlink(entry);
    read.link = link == nullptr ? "" : link;
    read.mode = archive_entry_perm(entry);
    read.size = archive_entry_size(entry);
    read.time = archive_entry_mtime(entry);
    CHECK(archive_entry_uid(entry) == 0);
    CHECK(archive_entry_gid(entry) == 0);
    read.text.resize(static_cast<std::size_t>(read.size));
    CHECK(archive_read_data(reader.get(), read.text.data(), read.text.size()) == read.size);
    all.push_back(std::move(read));
  }
  return all;
}

}  // namespace

TEST_CASE("a tar holds what was added, normalised") {
  std::string bytes;
  TarWriter tar{[&](std::string_view piece) { bytes += piece; }};
  const std::string deep = std::string(120, 'd') + "/" + std::string(200, 'f');
  const std::string latin{"caf\xe9.txt"};
  const std::string utf8{"caf\xc3\xa9.txt"};
  tar.add_directory("src");
  tar.add_directory("tmp/", 0777);
  tar.add_file("src/run.sh", image::file_mode(true), "#!/bin/sh\n");
  tar.add_file("src/empty", image::file_mode(false), "");
  tar.add_file(deep, 0644, "deep");
  tar.add_file(latin, 0644, "latin");
  tar.add_file(utf8, 0644, "utf-8");
  tar.add_symlink("link", "../outside");
  tar.add_symlink("far", std::string(300, 't'));
  tar.finish();
  CHECK(bytes.size() == tar.size());
  CHECK(bytes.size() % 512 == 0);

  const auto entries = read_tar(bytes);
  REQUIRE(entries.size() == 9);
  CHECK(entries[0].path == "src/");
  CHECK(entries[0].mode == 0755);
  CHECK(entries[1].path == "tmp/");
  CHECK(entries[1].mode == 0777);
  CHECK(entries[2].path == "src/run.sh");
  CHECK(entries[2].mode == 0755);
  CHECK(entries[2].text == "#!/bin/sh\n");
  CHECK(entries[2].time == 315619200);
  CHECK(entries[3].size == 0);
  CHECK(entries[4].path == deep);
  CHECK(entries[4].text == "deep");
  CHECK(entries[5].path == latin);
  CHECK(entries[6].path == utf8);
  CHECK(entries[6].text == "utf-8");
  CHECK(entries[7].link == "../outside");
  CHECK(entries[8].link == std::string(300, 't'));
}

TEST_CASE("a tar's bytes never change") {
  Sha256 hash;
  TarWriter tar{[&](std::string_view piece) { hash.update(piece); }};
  tar.add_directory("d");
  tar.add_file("d/a", 0644, "a");
  tar.add_file(std::string(101, 'n'), 0755, std::string(1000, 'x'));
  tar.add_symlink("d/l", "a");
  tar.finish();
  CHECK(hash.finish().hex() == "10c8c4dc642ab3bb474e771a9bb1e0647e07d8b9fb226f9dc878a36fb5096283");
}

TEST_CASE("a file past 8 GiB keeps its size") {
  constexpr std::uint64_t size = (std::uint64_t{8} << 30U) + 3;
  const std::string piece(1U << 20U, 'z');
  std::string head;
  std::uint64_t total = 0;
  TarWriter tar{[&](std::string_view bytes) {
    total += bytes.size();
    if (head.size() < 2048) {
      head += bytes.substr(0, 2048);
    }
  }};
  tar.add_file("big", 0644, size, [&](const TarWriter::Take& take) {
    std::uint64_t left = size;
    while (left > 0) {
      const auto count = std::min<std::uint64_t>(left, piece.size());
      take(std::string_view{piece}.substr(0, count));
      left -= count;
    }
  });
  tar.finish();
  CHECK(head.find("size=8589934595\n") != std::string::npos);
  CHECK(total == 3 * std::uint64_t{512} + size + (512 - 3) + 1024);
  const std::unique_ptr<archive, int (*)(archive*)> reader{archive_read_new(), archive_read_free};
  archive_read_support_format_tar(reader.get());
  REQUIRE(archive_read_open_memory(reader.get(), head.data(), head.size()) == ARCHIVE_OK);
  archive_entry* entry = nullptr;
  REQUIRE(archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK);
  CHECK(archive_entry_size(entry) == static_cast<std::int64_t>(size));
}

TEST_CASE("a file that changes during reading is reported") {
  TarWriter tar{[](std::string_view /*bytes*/) {}};
  const auto gives = [](std::string_view text) {
    return [text](const TarWriter::Take& take) { take(text); };
  };
  CHECK_THROWS_WITH_AS(tar.add_file("a", 0644, 3, gives("ab")), "`a` changed while it was read",
                       Error);
  CHECK_THROWS_AS(tar.add_file("a", 0644, 1, gives("ab")), Error);
}

TEST_CASE("the time of files comes from SOURCE_DATE_EPOCH") {
  const auto with = [](std::string value) {
    return image::file_time(Environment{{{"SOURCE_DATE_EPOCH", std::move(value)}}});
  };
  CHECK(image::file_time(Environment{}) == image::default_file_time);
  CHECK(with("1700000000") == 1700000000);
  for (const char* wrong : {"-1", "x", "1.5", "99999999999999", " 1"}) {
    CHECK_THROWS_AS(with(wrong), Error);
  }
}

}  // namespace autopack::image_tar_test
