#include "wheel/zip_directory.hpp"

namespace autopack::wheel {

namespace {

constexpr std::size_t header_size{30};
/// The flags that affect how a member is read.
constexpr unsigned read_alike{zip_flag::encrypted | zip_flag::has_descriptor | zip_flag::utf8};

}  // namespace

void ZipDirectory::check_header(ZipEntry& entry, std::uint64_t next) const {
  auto& member = entry.member;
  const auto differs = [&](const char* what) {
    return zip_.fault(in_backticks(member.name) + ": its directory and its header have different " +
                      what);
  };
  if (next - entry.header < header_size) {
    throw zip_.fault("two of its members share bytes");
  }
  const std::string fixed = zip_.bytes_at(entry.header, header_size);
  Fields fields{fixed};
  const bool is_header = fields.take(4) == "PK\3\4";
  fields.u16();  // version
  const unsigned flags = fields.u16();
  const unsigned method = fields.u16();
  fields.u32();  // time
  const std::uint32_t crc = fields.u32();
  std::uint64_t compressed_size = fields.u32();
  std::uint64_t size = fields.u32();
  const unsigned name_size = fields.u16();
  const unsigned extra_size = fields.u16();
  member.offset = entry.header + header_size + name_size + extra_size;
  if (!is_header || member.offset > next || member.compressed_size > next - member.offset) {
    throw zip_.fault(in_backticks(member.name) + " is not at its place in the directory");
  }
  if ((flags & read_alike) != (entry.flags & read_alike)) {
    throw differs("flags");
  }
  if (method != (member.method == Member::Method::stored ? 0U : 8U)) {
    throw differs("methods");
  }
  const std::string rest = zip_.bytes_at(entry.header + header_size, name_size + extra_size);
  if (std::string_view{rest}.substr(0, name_size) != entry.whole_name()) {
    throw differs("names");
  }
  const auto extra = std::string_view{rest}.substr(name_size);
  auto why = read_sizes(extra, {&size, &compressed_size});
  why = why ? why : extra_fault(extra, entry.whole_name());
  if (why) {
    throw zip_.fault(in_backticks(member.name) + " " + *why);
  }
  const bool later = (flags & zip_flag::has_descriptor) != 0;
  const auto agree = [&](std::uint64_t said, std::uint64_t known) {
    return said == known || (later && said == 0);
  };
  if (!agree(size, member.size) || !agree(compressed_size, member.compressed_size)) {
    throw differs("sizes");
  }
  if (!agree(crc, member.crc)) {
    throw differs("checksums");
  }
  const std::uint64_t end = member.offset + member.compressed_size;
  if (later) {
    check_descriptor(entry, end, next);
  } else if (end != next) {
    throw zip_.fault("there are bytes after " + in_backticks(member.name));
  }
}

void ZipDirectory::check_descriptor(const ZipEntry& entry,
                                    std::uint64_t begin,
                                    std::uint64_t next) const {
  const auto& member = entry.member;
  const std::uint64_t count = next - begin;
  const bool has_mark = count == 16 || count == 24;
  const std::size_t width = count >= 20 ? 8 : 4;
  bool agrees = count == 12 || count == 20 || has_mark;
  if (agrees) {
    const std::string bytes = zip_.bytes_at(begin, count);
    Fields fields{bytes};
    agrees = !has_mark || fields.take(4) == "PK\7\10";
    agrees = agrees && fields.u32() == member.crc;
    agrees = agrees && fields.number(width) == member.compressed_size;
    agrees = agrees && fields.number(width) == member.size;
  }
  if (!agrees) {
    throw zip_.fault("the descriptor after " + in_backticks(member.name) +
                     " does not match the directory");
  }
}

}  // namespace autopack::wheel
