#include "registry/pass.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>

namespace autopack::registry {

Pass::Pass(const BlobSource& source, std::uint64_t skip, bool hashed, const Progress& progress)
    : reader_{source()}, hashed_{hashed}, progress_{progress} {
  std::array<char, 65536> buffer{};
  while (count_ < skip) {
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), skip - count_));
    if (take(buffer.data(), wanted) == 0) {
      throw Error(ErrorKind::internal, "the content of a layer changed while it was sent");
    }
  }
}

std::size_t Pass::read(char* buffer, std::size_t size) {
  const std::size_t count = take(buffer, size);
  if (progress_) {
    progress_(count_);
  }
  return count;
}

std::size_t Pass::take(char* buffer, std::size_t size) {
  const std::size_t count = reader_(buffer, size);
  if (hashed_) {
    hash_.update({buffer, count});
  }
  count_ += count;
  return count;
}

}  // namespace autopack::registry
