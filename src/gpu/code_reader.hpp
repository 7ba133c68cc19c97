#pragma once

#include "gpu/cuda_version.hpp"
#include "gpu/library_code.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace autopack::gpu {

/// Finds the GPU code of a file while its bytes pass by. CUDA's compilers put it into containers,
/// one after the other: a header, then entries, each with a header and a payload that need not be
/// opened. Reads the headers alone; keeps at most a few KiB, whatever the file says.
class CodeReader {
public:
  /// Takes the next bytes of the file, in pieces of any size. Does nothing with a file that is not
  /// a 64-bit little-endian ELF file.
  void take(std::string_view bytes);

  /// Returns true if the bytes so far show that it is not such a file.
  bool is_foreign() const { return state_ == State::foreign; }

  /// Returns the code of the file, all of whose bytes were taken; nothing if it is not an ELF file.
  std::optional<LibraryCode> finish();

private:
  enum class State { start, search, entry, foreign };

  std::size_t step(std::string_view view);
  std::size_t read_start(std::string_view view);
  std::size_t search(std::string_view view);
  std::size_t read_entry(std::string_view view);
  void give_up_container();
  void use(std::size_t count);
  void skip_in_carry();
  std::size_t refill(std::string_view bytes);

  State state_{State::start};
  std::uint64_t offset_{0};     ///< in the file, of the first byte that step() has not used
  std::uint64_t skip_{0};       ///< bytes from there on that are payload
  std::uint64_t remaining_{0};  ///< bytes of the container's entries
  std::string carry_{};         ///< bytes that step() needs again with those that follow
  std::map<std::pair<CodeKind, Architecture>, Code> found_{};
  bool is_damaged_{false};
  CudaVersion cuda_{};
};

}  // namespace autopack::gpu
