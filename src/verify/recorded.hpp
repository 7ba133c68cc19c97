#pragma once

#include "base/digest.hpp"
#include "image/source.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::verify {

/// What an image says about how it was made.
struct Recorded {
  std::string platform{};
  std::optional<std::string> base_name{};  ///< absent for a base in files
  std::optional<Digest> base_digest{};
  std::optional<std::int64_t> time{};           ///< of its files, in seconds since 1970
  std::optional<std::string> commit{};          ///< absent if it does not say
  bool is_dirty{false};                         ///< its files were not those of the commit
  bool has_byte_code{false};                    ///< made with `--compile-bytecode`
  std::map<std::string, std::string> labels{};  ///< about git: part of the key
  std::optional<std::string> rebased_from{};    ///< it was moved to another base
};

/// Reads the labels and the history of `image`. Throws Error(remote) if its configuration cannot be
/// read, or if autopack did not make it.
Recorded recorded_in(const image::Source& image);

}  // namespace autopack::verify
