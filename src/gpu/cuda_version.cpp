#include "gpu/cuda_version.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

namespace autopack::gpu {

namespace {

constexpr std::size_t elf_header_size{64};
constexpr std::size_t program_header_size{56};
constexpr std::size_t dynamic_entry_size{16};
constexpr std::uint64_t largest_dynamic{std::uint64_t{64} << 10U};
constexpr std::size_t most_names{4096};

/// Libraries whose number is that of CUDA.
constexpr std::array<std::string_view, 4> libraries{"libcudart", "libcublas", "libcublasLt",
                                                    "libnvrtc"};

/// A name of one of them whose `.so.` begins at `dot` in `bytes`.
struct Name {
  std::size_t begin;
  unsigned version;
};

std::optional<Name> name_around(std::string_view bytes, std::size_t dot) {
  constexpr std::string_view infix{".so."};
  if (!bytes.substr(dot).starts_with(infix)) {
    return std::nullopt;
  }
  const auto* const library = std::ranges::find_if(
      libraries, [&](std::string_view name) { return bytes.substr(0, dot).ends_with(name); });
  if (library == libraries.end()) {
    return std::nullopt;
  }
  unsigned version = 0;
  std::size_t at = dot + infix.size();
  for (; at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9' && version < 100; ++at) {
    version = version * 10 + static_cast<unsigned>(bytes[at] - '0');
  }
  const bool is_whole = at < bytes.size() && bytes[at] == '\0' && version > 0 && version < 100;
  return is_whole ? std::optional{Name{.begin = dot - library->size(), .version = version}}
                  : std::nullopt;
}

}  // namespace

std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = size; i > 0; --i) {
    number = number << 8U | static_cast<unsigned char>(bytes[at + i - 1]);
  }
  return number;
}

void CudaVersion::begin(std::string_view head) {
  constexpr std::uint32_t load{1};
  constexpr std::uint32_t dynamic{2};
  if (head.size() < elf_header_size || little_endian(head, 32, 8) != elf_header_size ||
      little_endian(head, 54, 2) != program_header_size) {
    return;
  }
  const auto count = little_endian(head, 56, 2);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = elf_header_size + i * program_header_size;
    if (at + program_header_size > head.size()) {
      return;
    }
    const auto type = little_endian(head, at, 4);
    const Segment segment{.offset = little_endian(head, at + 8, 8),
                          .address = little_endian(head, at + 16, 8),
                          .size = little_endian(head, at + 32, 8)};
    if (type == load) {
      segments_.push_back(segment);
    } else if (type == dynamic && segment.size <= largest_dynamic) {
      dynamic_offset_ = segment.offset;
      dynamic_size_ = segment.size;
    }
  }
}

void CudaVersion::take(std::uint64_t offset, std::string_view bytes) {
  const auto wanted = dynamic_offset_ + dynamic_.size();
  if (dynamic_.size() == dynamic_size_ || wanted < offset || wanted - offset >= bytes.size()) {
    return;
  }
  dynamic_ += bytes.substr(wanted - offset, dynamic_size_ - dynamic_.size());
}

void CudaVersion::find_names(std::uint64_t offset, std::string_view bytes) {
  if (dynamic_size_ == 0) {
    return;
  }
  for (std::size_t at = 0; at < bytes.size() && versions_.size() < most_names; ++at) {
    const void* const found = std::memchr(bytes.data() + at, '.', bytes.size() - at);
    if (found == nullptr) {
      return;
    }
    at = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    if (const auto name = name_around(bytes, at)) {
      versions_[offset + name->begin] = name->version;
    }
  }
}

std::optional<std::uint64_t> CudaVersion::offset_of(std::uint64_t address) const {
  const auto segment = std::ranges::find_if(segments_, [&](const Segment& one) {
    return address >= one.address && address - one.address < one.size;
  });
  return segment == segments_.end() ? std::nullopt
                                    : std::optional{segment->offset + (address - segment->address)};
}

std::optional<unsigned> CudaVersion::finish() const {
  constexpr std::uint64_t needed{1};
  constexpr std::uint64_t strings{5};
  constexpr std::uint64_t own_name{14};
  if (dynamic_size_ == 0 || dynamic_.size() < dynamic_size_) {
    return std::nullopt;
  }
  std::vector<std::uint64_t> names;
  std::optional<std::uint64_t> table;
  for (std::size_t at = 0; at + dynamic_entry_size <= dynamic_.size(); at += dynamic_entry_size) {
    const auto tag = little_endian(dynamic_, at, 8);
    const auto value = little_endian(dynamic_, at + 8, 8);
    if (tag == 0) {
      break;
    }
    if (tag == strings) {
      table = offset_of(value);
    } else if (tag == needed || tag == own_name) {
      names.push_back(value);
    }
  }
  std::set<unsigned> found;
  for (const auto name : names) {
    const auto version = table ? versions_.find(*table + name) : versions_.end();
    if (version != versions_.end()) {
      found.insert(version->second);
    }
  }
  return found.size() == 1 ? std::optional{*found.begin()} : std::nullopt;
}

}  // namespace autopack::gpu
