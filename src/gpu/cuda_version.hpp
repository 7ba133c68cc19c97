#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::gpu {

/// Finds the CUDA version that an ELF file is linked with, while its bytes pass by: the N of a
/// `libcudart.so.N`, or of another library with the version of CUDA, that its dynamic section
/// requires or names as its own. Keeps at most some 300 KiB.
class CudaVersion {
public:
  /// `head` is the ELF header and the program headers, as far as the file begins with them.
  void begin(std::string_view head);

  /// Takes bytes of the file from `offset` on; the calls are in order, without overlap.
  void take(std::uint64_t offset, std::string_view bytes);

  /// Looks for names of libraries in bytes from `offset` on. Calls may overlap, and leave out data
  /// that is known to contain none.
  void find_names(std::uint64_t offset, std::string_view bytes);

  /// Returns the major version; nothing unless exactly one is certain.
  std::optional<unsigned> finish() const;

private:
  struct Segment {
    std::uint64_t offset{0};
    std::uint64_t address{0};
    std::uint64_t size{0};
  };

  std::optional<std::uint64_t> offset_of(std::uint64_t address) const;

  std::vector<Segment> segments_{};
  std::uint64_t dynamic_offset_{0};
  std::uint64_t dynamic_size_{0};
  std::string dynamic_{};                         ///< the dynamic section
  std::map<std::uint64_t, unsigned> versions_{};  ///< by the offset of the library's name
};

/// Returns `size` bytes (at most 8) of `bytes` at `at` as a little-endian number. They must exist.
std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t size);

}  // namespace autopack::gpu
