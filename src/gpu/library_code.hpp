#pragma once

#include "gpu/architecture.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::gpu {

/// Machine code of one architecture, or PTX, which the driver compiles.
enum class CodeKind { cubin, ptx };

/// The code of one kind for one architecture in a library.
struct Code {
  CodeKind kind{CodeKind::cubin};
  Architecture architecture{};
  std::uint64_t count{0};  ///< of entries
  std::uint64_t bytes{0};  ///< of these, as stored

  bool operator==(const Code&) const = default;
};

/// The GPU code of a shared library or a program.
struct LibraryCode {
  std::vector<Code> code{};        ///< sorted by kind and architecture; empty: it has none
  std::optional<unsigned> cuda{};  ///< the major version that it is linked with; absent: unknown
  bool is_damaged{false};          ///< something in it contradicts itself: `code` may lack parts

  bool operator==(const LibraryCode&) const = default;
};

/// A library with GPU code in a wheel or an image.
struct Library {
  std::string path{};
  std::uint64_t size{0};  ///< in bytes
  LibraryCode code{};

  bool operator==(const Library&) const = default;
};

/// Returns `libraries` as JSON, for the caches and for registries.
std::string to_json(const std::vector<Library>& libraries);

/// Returns nothing if `text` is damaged or of another version.
std::optional<std::vector<Library>> libraries_from_json(std::string_view text);

}  // namespace autopack::gpu
