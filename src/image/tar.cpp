#include "image/tar.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace autopack::image {

namespace {

constexpr std::size_t block_size = 512;
/// The largest number that fits into the 11 octal digits of a ustar field.
constexpr std::uint64_t largest_octal = 077777777777;
constexpr std::size_t name_size = 100;

using Block = std::array<char, block_size>;

void put(Block& block, std::size_t offset, std::string_view text) {
  std::ranges::copy(text, block.begin() + static_cast<std::ptrdiff_t>(offset));
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool fits_name(std::string_view text) {
  return text.size() <= name_size && is_ascii(text);
}

/// Returns the text for the ustar field; a placeholder if a pax record holds the real name.
std::string_view ustar_name(std::string_view text) {
  return fits_name(text) ? text : std::string_view{"long-name"};
}

/// Returns `<length> <key>=<value>` and a line feed, where the length includes its own digits.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (rest + std::to_string(length).size() != length) {
    length = rest + std::to_string(length).size();
  }
  return fmt::format("{} {}={}\n", length, key, value);
}

}  // namespace

std::int64_t file_time(const Environment& environment) {
  const auto text = environment.get("SOURCE_DATE_EPOCH");
  if (!text) {
    return default_file_time;
  }
  std::uint64_t seconds = 0;
  const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (code != std::errc{} || end != text->data() + text->size() || seconds > largest_octal) {
    throw Error(ErrorKind::usage,
                fmt::format("SOURCE_DATE_EPOCH is `{}`, not a number of seconds since 1970",
                            printable(*text)))
        .hint("export SOURCE_DATE_EPOCH=\"$(git log -1 --format=%ct)\"");
  }
  return static_cast<std::int64_t>(seconds);
}

struct TarWriter::Header {
  std::string path{};
  char type{'0'};
  unsigned mode{0644};
  std::uint64_t size{0};
  std::string link{};
};

TarWriter::TarWriter(Take out, std::int64_t time) : out_{std::move(out)}, time_{time} {}

void TarWriter::add_directory(std::string_view path, unsigned mode) {
  std::string name{path};
  if (!name.ends_with('/')) {
    name += '/';
  }
  add_header(Header{.path = std::move(name), .type = '5', .mode = mode});
}

void TarWriter::add_file(std::string_view path,
                         unsigned mode,
                         std::uint64_t size,
                         const Contents& contents) {
  add_header(Header{.path = std::string{path}, .mode = mode, .size = size});
  std::uint64_t left = size;
  const auto changed = [&] {
    return Error(ErrorKind::project,
                 fmt::format("`{}` changed while it was read", printable(path)));
  };
  contents([&](std::string_view bytes) {
    if (bytes.size() > left) {
      throw changed();
    }
    left -= bytes.size();
    write(bytes);
  });
  if (left != 0) {
    throw changed();
  }
  pad();
}

void TarWriter::add_file(std::string_view path, unsigned mode, std::string_view text) {
  add_file(path, mode, text.size(), [&](const Take& take) { take(text); });
}

void TarWriter::add_file_around(std::string_view path,
                                unsigned mode,
                                std::uint64_t size,
                                const std::function<void()>& write) {
  add_header(Header{.path = std::string{path}, .mode = mode, .size = size});
  write();
  size_ += size;
  pad();
}

void TarWriter::add_symlink(std::string_view path, std::string_view target) {
  add_header(
      Header{.path = std::string{path}, .type = '2', .mode = 0777, .link = std::string{target}});
}

void TarWriter::add_hard_link(std::string_view path, std::string_view target) {
  add_header(Header{.path = std::string{path}, .type = '1', .link = std::string{target}});
}

void TarWriter::finish() {
  const Block zeros{};
  write({zeros.data(), zeros.size()});
  write({zeros.data(), zeros.size()});
}

void TarWriter::add_header(const Header& header) {
  add_pax_records(header);
  write_block(header);
}

void TarWriter::add_pax_records(const Header& header) {
  std::string records;
  // Names are bytes: readers must not convert them to their locale.
  if (!is_ascii(header.path) || !is_ascii(header.link)) {
    records += pax_record("hdrcharset", "BINARY");
  }
  if (!fits_name(header.link)) {
    records += pax_record("linkpath", header.link);
  }
  if (!fits_name(header.path)) {
    records += pax_record("path", header.path);
  }
  if (header.size > largest_octal) {
    records += pax_record("size", std::to_string(header.size));
  }
  if (records.empty()) {
    return;
  }
  write_block(Header{.path = "PaxHeaders.0", .type = 'x', .size = records.size()});
  write(records);
  pad();
}

void TarWriter::write_block(const Header& header) {
  Block block{};
  put(block, 0, ustar_name(header.path));
  put(block, 100, fmt::format("{:07o}", header.mode & 07777U));
  put(block, 108, "0000000");
  put(block, 116, "0000000");
  put(block, 124, fmt::format("{:011o}", header.size > largest_octal ? 0 : header.size));
  put(block, 136, fmt::format("{:011o}", static_cast<std::uint64_t>(time_)));
  put(block, 148, "        ");
  block[156] = header.type;
  put(block, 157, ustar_name(header.link));
  put(block, 257, std::string_view{"ustar\00000", 8});
  unsigned sum = 0;
  for (const char c : block) {
    sum += static_cast<unsigned char>(c);
  }
  put(block, 148, fmt::format("{:06o}", sum));
  block[154] = '\0';
  write({block.data(), block.size()});
}

void TarWriter::write(std::string_view bytes) {
  if (!bytes.empty()) {
    size_ += bytes.size();
    out_(bytes);
  }
}

void TarWriter::pad() {
  const Block zeros{};
  const std::size_t used = size_ % block_size;
  if (used != 0) {
    write({zeros.data(), block_size - used});
  }
}

}  // namespace autopack::image
