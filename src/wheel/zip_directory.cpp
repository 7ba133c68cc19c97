#include "wheel/zip_directory.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::wheel {

namespace {

constexpr std::uint64_t most_members{200'000};
constexpr std::uint64_t largest_directory{std::uint64_t{64} << 20U};
/// A deflate stream cannot expand to more than this many bytes for each byte.
constexpr std::uint64_t best_ratio{1032};
constexpr std::size_t entry_size{46};
/// Python's zipfile, and therefore pip, reads versions up to this one (6.3).
constexpr unsigned newest_version{63};

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Returns why an entry cannot be read, or nothing if it can.
std::optional<std::string> entry_fault(const ZipEntry& entry, unsigned method) {
  const auto& member = entry.member;
  if ((entry.flags & zip_flag::encrypted) != 0) {
    return "is encrypted";
  }
  if (method != 0 && method != 8) {
    return fmt::format("is compressed by method {}, which is not deflate", method);
  }
  if (method == 0 && member.size != member.compressed_size) {
    return "is stored, with two sizes";
  }
  if (member.size / best_ratio > member.compressed_size) {
    return fmt::format("cannot hold {} in {}", human_size(member.size),
                       human_size(member.compressed_size));
  }
  if (entry.is_directory && (member.size != 0 || member.compressed_size > 2)) {
    return "is a directory and holds bytes";
  }
  const bool is_utf8 = is_ascii(member.name) || (entry.flags & zip_flag::utf8) != 0;
  return is_utf8 ? std::nullopt : std::optional{"has a name that is not UTF-8"};
}

}  // namespace

std::vector<ZipEntry> ZipDirectory::read() const {
  const ZipEnd end = find_end();
  if (end.count > most_members || end.size > largest_directory) {
    throw zip_.fault(
        fmt::format("it has {} members; at most {} are read", end.count, most_members));
  }
  if (end.size > end.begin || end.offset != end.begin - end.size) {
    throw zip_.fault("its directory is not at its end");
  }
  auto entries = read_entries(end);
  std::ranges::stable_sort(
      entries, [](const ZipEntry& a, const ZipEntry& b) { return a.header < b.header; });
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::uint64_t next = i + 1 < entries.size() ? entries[i + 1].header : end.offset;
    if (entries[i].header != expected) {
      throw zip_.fault("there are bytes before its members");
    }
    if (next < entries[i].header) {
      throw zip_.fault("a member follows its directory");
    }
    check_header(entries[i], next);
    expected = next;
  }
  if (expected != end.offset) {
    throw zip_.fault("there are bytes before its directory");
  }
  return entries;
}

std::vector<ZipEntry> ZipDirectory::read_entries(const ZipEnd& end) const {
  const std::string bytes = zip_.bytes_at(end.offset, end.size);
  Fields fields{bytes};
  std::vector<ZipEntry> entries;
  entries.reserve(std::min<std::uint64_t>(end.count, end.size / entry_size));
  while (fields.left() > 0 && entries.size() < end.count) {
    entries.push_back(read_entry(fields));
  }
  if (fields.left() > 0 || entries.size() != end.count) {
    throw zip_.fault("its directory is damaged");
  }
  return entries;
}

ZipEntry ZipDirectory::read_entry(Fields& fields) const {
  if (fields.left() < entry_size || fields.take(4) != "PK\1\2") {
    throw zip_.fault("its directory is damaged");
  }
  ZipEntry entry;
  auto& member = entry.member;
  fields.u16();  // version made by
  const unsigned version_needed = fields.u16() & 0xffU;
  entry.flags = fields.u16();
  const unsigned method = fields.u16();
  member.method = method == 0 ? Member::Method::stored : Member::Method::deflated;
  fields.u32();  // time
  member.crc = fields.u32();
  member.compressed_size = fields.u32();
  member.size = fields.u32();
  const std::size_t name_size = fields.u16();
  const std::size_t extra_size = fields.u16();
  const std::size_t comment_size = fields.u16();
  fields.u32();  // disk, internal attributes
  member.mode = fields.u32() >> 16U;
  entry.header = fields.u32();
  if (fields.left() < name_size + extra_size + comment_size) {
    throw zip_.fault("its directory is damaged");
  }
  member.name = fields.take(name_size);
  const auto extra = fields.take(extra_size);
  fields.take(comment_size);
  if (member.name.ends_with('/')) {
    entry.is_directory = true;
    member.name.pop_back();
  }
  if (const auto why = name_fault(member.name)) {
    throw zip_.fault(in_backticks(member.name) + " is " + *why);
  }
  if (version_needed > newest_version) {
    throw zip_.fault(fmt::format("{} needs version {}.{} of the zip format; Python reads up to 6.3",
                                 in_backticks(member.name), version_needed / 10,
                                 version_needed % 10));
  }
  auto why = read_sizes(extra, {&member.size, &member.compressed_size, &entry.header});
  why = why ? why : extra_fault(extra, entry.whole_name());
  why = why ? why : entry_fault(entry, method);
  if (why) {
    throw zip_.fault(in_backticks(member.name) + " " + *why);
  }
  return entry;
}

}  // namespace autopack::wheel
