#pragma once

#include "state/store.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace autopack::state {

/// Stores results that are expensive to compute: texts by arbitrary names, in a directory of small
/// files. Ignores failures to write.
class Records {
public:
  /// `limit` is the size of the directory in bytes; the oldest files are removed first.
  explicit Records(std::filesystem::path directory, std::uint64_t limit = 64'000'000)
      : store_{std::move(directory), limit} {}

  /// Returns the record as it was stored, or nothing if there is none or its file is damaged.
  std::optional<std::string> get(const std::string& name) const;
  void put(const std::string& name, const std::string& record) const;

private:
  Store store_;
};

}  // namespace autopack::state
