#include "wheel/zip_directory.hpp"

#include <algorithm>
#include <string_view>

namespace autopack::wheel {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t end_size{22};
constexpr std::size_t locator_size{20};
constexpr std::size_t large_end_size{56};
constexpr std::size_t longest_comment{65535};

constexpr auto directory_end_mark = "PK\5\6"sv;
constexpr auto large_directory_end_mark = "PK\6\6"sv;
constexpr auto locator_mark = "PK\6\7"sv;

constexpr std::uint64_t full16{0xffff};
constexpr std::uint64_t full32{0xffffffff};

}  // namespace

ZipEnd ZipDirectory::find_end() const {
  const std::uint64_t count = std::min<std::uint64_t>(zip_.size(), end_size + longest_comment);
  const std::string tail = zip_.bytes_at(zip_.size() - count, count);
  const auto at = tail.rfind(directory_end_mark);
  if (at == std::string::npos || tail.size() - at < end_size) {
    throw zip_.fault("it is not a zip archive, or it is incomplete");
  }
  Fields fields{std::string_view{tail}.substr(at + 4)};
  const unsigned disks = fields.u16() | fields.u16();
  const unsigned count_here = fields.u16();
  ZipEnd end{.count = fields.u16(), .size = fields.u32(), .offset = fields.u32()};
  end.begin = zip_.size() - tail.size() + at;
  if (fields.u16() != tail.size() - at - end_size) {
    throw zip_.fault("there are bytes after its end");
  }
  if ((disks != 0 && disks != full16) || count_here != end.count) {
    throw zip_.fault("it is one part of a split archive");
  }
  return large_end(end);
}

ZipEnd ZipDirectory::large_end(const ZipEnd& end) const {
  if (end.begin < locator_size + large_end_size) {
    return end;
  }
  const std::string locator = zip_.bytes_at(end.begin - locator_size, locator_size);
  if (!locator.starts_with(locator_mark)) {
    return end;
  }
  Fields where{std::string_view{locator}.substr(8)};
  const std::uint64_t begin = end.begin - locator_size - large_end_size;
  const std::string record = zip_.bytes_at(begin, large_end_size);
  Fields fields{std::string_view{record}.substr(4)};
  const std::uint64_t record_size = fields.u64();
  if (where.u64() != begin || !record.starts_with(large_directory_end_mark) ||
      record_size != large_end_size - 12) {
    throw zip_.fault("the records at its end do not follow each other");
  }
  fields.u32();  // versions
  const std::uint32_t disks = fields.u32() | fields.u32();
  const std::uint64_t count_here = fields.u64();
  const ZipEnd large{
      .count = fields.u64(), .size = fields.u64(), .offset = fields.u64(), .begin = begin};
  const auto agree = [](std::uint64_t small, std::uint64_t whole, std::uint64_t full) {
    return small == full || small == whole;
  };
  if (disks != 0 || count_here != large.count || !agree(end.count, large.count, full16) ||
      !agree(end.size, large.size, full32) || !agree(end.offset, large.offset, full32)) {
    throw zip_.fault("the records at its end contradict each other");
  }
  return large;
}

}  // namespace autopack::wheel
