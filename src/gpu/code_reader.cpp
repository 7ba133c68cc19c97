#include "gpu/code_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace autopack::gpu {

namespace {

/// The first eight bytes of a container: its magic, version 1, and the size of this header.
constexpr std::array<unsigned char, 8> container_mark{0x50, 0xED, 0x55, 0xBA,
                                                      0x01, 0x00, 0x10, 0x00};
constexpr std::size_t container_header{16};
constexpr std::size_t alignment{8};  ///< of a container in its file

constexpr std::size_t entry_header{64};
constexpr std::uint64_t largest_entry_header{4096};

/// The beginning of a 64-bit little-endian ELF file.
constexpr std::string_view elf64{
    "\x7f"
    "ELF\x02\x01",
    6};

/// The longest part of a file that must be seen at once: an ELF header with its program headers.
constexpr std::size_t window{4096};
/// Names of libraries, and headers of containers, are shorter.
constexpr std::size_t overlap{32};

/// Real files have code for some ten architectures.
constexpr std::size_t most_codes{100};

struct Entry {
  std::uint64_t size{0};       ///< with its header
  std::optional<Code> code{};  ///< absent for an entry that is neither machine code nor PTX
  bool is_plausible{false};
};

Entry parse_entry(std::string_view header, std::uint64_t remaining) {
  constexpr std::uint64_t specific{0x100000};
  constexpr std::uint64_t family{0x200000};
  const auto kind = little_endian(header, 0, 2);
  const auto header_size = little_endian(header, 4, 4);
  const auto data_size = little_endian(header, 8, 8);
  const auto number = little_endian(header, 28, 4);
  const auto flags = little_endian(header, 40, 8);
  const bool fits = header_size >= entry_header && header_size <= largest_entry_header &&
                    header_size <= remaining && data_size <= remaining - header_size;
  const bool is_ptx = kind == 1;
  const bool is_cubin = kind == 2 || kind == 0x10;
  if (!fits || ((is_ptx || is_cubin) && (number < 10 || number > 999))) {
    return {};
  }
  Entry entry{.size = header_size + data_size, .is_plausible = true};
  if (is_ptx || is_cubin) {
    entry.code =
        Code{.kind = is_ptx ? CodeKind::ptx : CodeKind::cubin,
             .architecture = {.number = static_cast<unsigned>(number),
                              .variant = (flags & family) != 0     ? Architecture::Variant::family
                                         : (flags & specific) != 0 ? Architecture::Variant::specific
                                                                   : Architecture::Variant::plain},
             .count = 1,
             .bytes = entry.size};
  }
  return entry;
}

/// Returns the place of the first container mark in `view` at a multiple of the alignment from
/// `first` on, or the first such place behind those that are complete.
std::size_t find_mark(std::string_view view, std::size_t first) {
  constexpr auto mark = std::bit_cast<std::uint64_t>(container_mark);
  std::size_t at = first;
  // Comparing four words at once keeps this as fast as reading memory.
  constexpr std::size_t words{4};
  const auto word = [&](std::size_t place) {
    std::uint64_t value = 0;
    std::memcpy(&value, view.data() + place, sizeof value);
    return value;
  };
  for (; at + words * alignment <= view.size(); at += words * alignment) {
    const unsigned found = unsigned{word(at) == mark} | unsigned{word(at + alignment) == mark} |
                           unsigned{word(at + 2 * alignment) == mark} |
                           unsigned{word(at + 3 * alignment) == mark};
    if (found != 0) {
      break;
    }
  }
  for (; at + alignment <= view.size() && word(at) != mark; at += alignment) {
  }
  return at;
}

}  // namespace

std::size_t CodeReader::read_start(std::string_view view) {
  if (view.substr(0, elf64.size()) != elf64.substr(0, view.size())) {
    state_ = State::foreign;
    return view.size();
  }
  if (view.size() < window) {
    return 0;
  }
  cuda_.begin(view.substr(0, window));
  state_ = State::search;
  return 0;
}

std::size_t CodeReader::search(std::string_view view) {
  const std::size_t first = (alignment - offset_ % alignment) % alignment;
  const auto at = find_mark(view, std::min(first, view.size()));
  cuda_.find_names(offset_, view.substr(0, at));
  if (at + alignment > view.size()) {
    return view.size() > overlap ? view.size() - overlap : 0;
  }
  if (at + container_header > view.size()) {
    return at;
  }
  const auto size = little_endian(view, at + 8, 8);
  if (size < entry_header) {
    return at + alignment;
  }
  remaining_ = size;
  state_ = State::entry;
  return at + container_header;
}

void CodeReader::give_up_container() {
  is_damaged_ = true;
  remaining_ = 0;
  state_ = State::search;
}

std::size_t CodeReader::read_entry(std::string_view view) {
  if (remaining_ < entry_header) {
    skip_ = std::exchange(remaining_, 0);
    state_ = State::search;
    return 0;
  }
  if (view.size() < entry_header) {
    return 0;
  }
  const auto entry = parse_entry(view, remaining_);
  if (!entry.is_plausible) {
    give_up_container();
    return 0;
  }
  if (entry.code) {
    const std::pair key{entry.code->kind, entry.code->architecture};
    if (found_.size() >= most_codes && !found_.contains(key)) {
      is_damaged_ = true;
    } else {
      auto& code = found_.try_emplace(key, Code{.kind = key.first, .architecture = key.second})
                       .first->second;
      ++code.count;
      code.bytes += entry.code->bytes;
    }
  }
  remaining_ -= entry.size;
  skip_ = entry.size;
  return 0;
}

/// Returns how many bytes of `view` are used up; changes the state, or needs more bytes if none
/// are.
std::size_t CodeReader::step(std::string_view view) {
  switch (state_) {
    case State::start: return read_start(view);
    case State::search: return search(view);
    case State::entry: return read_entry(view);
    case State::foreign: break;
  }
  return view.size();
}

void CodeReader::use(std::size_t count) {
  cuda_.take(offset_, std::string_view{carry_}.substr(0, count));
  carry_.erase(0, count);
  offset_ += count;
}

void CodeReader::skip_in_carry() {
  const auto count = std::min<std::uint64_t>(skip_, carry_.size());
  use(count);
  skip_ -= count;
}

/// Lets step() see bytes that were kept, with `bytes` that follow them. Returns how many of `bytes`
/// it used or kept.
std::size_t CodeReader::refill(std::string_view bytes) {
  const auto had = carry_.size();
  const auto added = std::min(bytes.size(), window - had);
  carry_ += bytes.substr(0, added);
  const auto used = step(carry_);
  if (used < had) {
    use(used);
    return added;
  }
  use(used);
  carry_.clear();
  return used - had;
}

void CodeReader::take(std::string_view bytes) {
  while (!bytes.empty() && state_ != State::foreign) {
    skip_in_carry();
    if (!carry_.empty()) {
      bytes.remove_prefix(refill(bytes));
      continue;
    }
    const auto skipped = std::min<std::uint64_t>(skip_, bytes.size());
    skip_ -= skipped;
    const auto before = state_;
    const auto used = skipped > 0 ? skipped : step(bytes);
    cuda_.take(offset_, bytes.substr(0, used));
    offset_ += used;
    bytes.remove_prefix(used);
    if (used == 0 && state_ == before && skip_ == 0) {
      carry_ = bytes;
      return;
    }
  }
}

std::optional<LibraryCode> CodeReader::finish() {
  if (state_ == State::start && read_start(carry_) == 0 && carry_.size() >= elf64.size()) {
    cuda_.begin(carry_);
    state_ = State::search;
  }
  if (state_ == State::foreign || state_ == State::start) {
    return std::nullopt;
  }
  for (bool is_going = true; is_going;) {
    skip_in_carry();
    const auto before = state_;
    const auto used = skip_ == 0 ? step(carry_) : 0;
    use(used);
    is_going = used > 0 || state_ != before || (skip_ > 0 && !carry_.empty());
  }
  use(carry_.size());
  LibraryCode library{.cuda = cuda_.finish(),
                      .is_damaged = is_damaged_ || skip_ > 0 || state_ == State::entry};
  for (const auto& [key, code] : found_) {
    library.code.push_back(code);
  }
  return library;
}

}  // namespace autopack::gpu
