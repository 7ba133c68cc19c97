#include "image/inflate.hpp"

#include "base/error.hpp"
#include "base/zlib.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace autopack::image {

namespace {

/// Streams up to this size are inflated as a whole, more than twice as fast as in pieces.
constexpr std::uint64_t largest_whole{std::uint64_t{12} << 20U};
constexpr std::size_t piece{std::size_t{256} << 10U};

using Take = std::function<void(std::string_view)>;

/// A buffer that is reused. Allocating a new one each time costs a page fault for every 4 kB, a
/// tenth of the time in which wheels become layers.
class Room {
public:
  /// Returns at least `size` bytes with unspecified contents.
  char* of(std::size_t size) {
    if (size > size_ || !bytes_) {
      bytes_.reset();
      size_ = 0;
      bytes_ = std::make_unique_for_overwrite<char[]>(size);  // NOLINT(modernize-avoid-c-arrays)
      size_ = size;
    }
    return bytes_.get();
  }

private:
  std::unique_ptr<char[]> bytes_{};  // NOLINT(modernize-avoid-c-arrays)
  std::size_t size_{0};
};

/// A buffer for a stream, and one for its inflated bytes.
struct Rooms {
  Room in{};
  Room out{};
};

/// Buffers that nobody uses at the moment. There are as many as were ever in use at once.
class FreeRooms {
public:
  std::unique_ptr<Rooms> take() {
    const std::scoped_lock lock{mutex_};
    if (rooms_.empty()) {
      rooms_.reserve(++made_);  // so that giving them back cannot fail
      return std::make_unique<Rooms>();
    }
    auto last = std::move(rooms_.back());
    rooms_.pop_back();
    return last;
  }

  void give_back(std::unique_ptr<Rooms> rooms) noexcept {
    const std::scoped_lock lock{mutex_};
    rooms_.push_back(std::move(rooms));
  }

private:
  std::mutex mutex_{};
  std::vector<std::unique_ptr<Rooms>> rooms_{};
  std::size_t made_{0};
};

/// Borrows the buffers for its own lifetime.
class BorrowedRooms {
public:
  BorrowedRooms() : rooms_{free().take()} {}

  ~BorrowedRooms() { free().give_back(std::move(rooms_)); }

  BorrowedRooms(const BorrowedRooms&) = delete;
  BorrowedRooms& operator=(const BorrowedRooms&) = delete;

  Rooms* operator->() { return rooms_.get(); }

private:
  static FreeRooms& free() {
    static FreeRooms rooms;
    return rooms;
  }

  std::unique_ptr<Rooms> rooms_;
};

/// Allocates bytes without initialising them.
std::unique_ptr<char[]> room_for(std::size_t size) {    // NOLINT(modernize-avoid-c-arrays)
  return std::make_unique_for_overwrite<char[]>(size);  // NOLINT(modernize-avoid-c-arrays)
}

/// Fills `buffer`; returns false if `reader` ends before it is full.
bool fill(const Reader& reader, char* buffer, std::size_t size) {
  std::size_t count = 0;
  while (size > 0 && (count = reader(buffer, size)) > 0) {
    buffer += count;
    size -= count;
  }
  return size == 0;
}

bool inflate_whole(const Reader& compressed,
                   std::size_t compressed_size,
                   std::size_t size,
                   const Take& take) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> owner{
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor};
  if (!owner) {
    throw Error(ErrorKind::environment, "no memory to decompress");
  }
  BorrowedRooms rooms;
  char* const in = rooms->in.of(compressed_size);
  char* const out = rooms->out.of(std::max<std::size_t>(size, 1));
  std::size_t used = 0;
  if (!fill(compressed, in, compressed_size) ||
      libdeflate_deflate_decompress_ex(owner.get(), in, compressed_size, out, size, &used,
                                       nullptr) != LIBDEFLATE_SUCCESS ||
      used != compressed_size) {
    return false;
  }
  // Pass it on in pieces that stay in a core's cache while several hashes read them.
  for (std::size_t done = 0; done < size; done += piece) {
    take({out + done, std::min(piece, size - done)});
  }
  return true;
}

/// Inflates a raw deflate stream piece by piece.
class Inflating {
public:
  explicit Inflating(const Reader& compressed) : compressed_{compressed} {
    if (zlib().init(&stream_, Zlib::raw_deflate, ZLIB_VERSION, sizeof stream_) != Z_OK) {
      throw Error(ErrorKind::environment, "no memory to decompress");
    }
  }

  ~Inflating() { zlib().end(&stream_); }

  Inflating(const Inflating&) = delete;
  Inflating& operator=(const Inflating&) = delete;

  /// Inflates into `out` as far as one step gets, and returns the number of bytes. Reads at most
  /// `left` bytes and subtracts them from it.
  std::size_t step(char* out, std::size_t size, std::uint64_t& left) {
    if (stream_.avail_in == 0 && left > 0) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, in_.size()));
      const std::size_t count = compressed_(in_.data(), wanted);
      left = count == 0 ? 0 : left - count;
      stream_.next_in = reinterpret_cast<Bytef*>(in_.data());
      stream_.avail_in = static_cast<uInt>(count);
    }
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(size);
    status_ = zlib().inflate(&stream_, Z_NO_FLUSH);  // Z_BUF_ERROR: the stream ends too early
    return size - stream_.avail_out;
  }

  bool goes_on() const { return status_ == Z_OK; }

  /// True if the stream has ended, and no byte that was read follows its end.
  bool is_whole() const { return status_ == Z_STREAM_END && stream_.avail_in == 0; }

private:
  const Reader& compressed_;
  z_stream stream_{};
  std::vector<char> in_ = std::vector<char>(piece);
  int status_{Z_OK};
};

bool inflate_in_pieces(const Reader& compressed,
                       std::uint64_t compressed_size,
                       std::uint64_t size,
                       const Take& take) {
  Inflating stream{compressed};
  const auto out = room_for(piece);
  while (stream.goes_on()) {
    const std::size_t count = stream.step(out.get(), piece, compressed_size);
    if (count > size) {
      return false;
    }
    size -= count;
    take({out.get(), count});
  }
  return stream.is_whole() && size == 0 && compressed_size == 0;
}

}  // namespace

std::uint32_t crc32(std::uint32_t so_far, std::string_view bytes) {
  return libdeflate_crc32(so_far, bytes.data(), bytes.size());
}

bool inflate(const Reader& compressed,
             std::uint64_t compressed_size,
             std::uint64_t size,
             const Take& take) {
  return std::max(size, compressed_size) <= largest_whole
             ? inflate_whole(compressed, static_cast<std::size_t>(compressed_size),
                             static_cast<std::size_t>(size), take)
             : inflate_in_pieces(compressed, compressed_size, size, take);
}

std::string inflate_beginning(const Reader& compressed, std::size_t count) {
  std::uint64_t unbounded = UINT64_MAX;
  std::string bytes(count, '\0');
  std::size_t done = 0;
  Inflating stream{compressed};
  while (done < count && stream.goes_on()) {
    done += stream.step(bytes.data() + done, count - done, unbounded);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace autopack::image
