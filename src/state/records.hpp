#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace autopack::state {

/// What was found out and would cost time to find again: texts by names of any form, in a
/// directory of small files. A failure to write is no error.
class Records {
public:
  /// `limit` bounds the directory, in bytes; the oldest files go first.
  explicit Records(std::filesystem::path directory, std::uint64_t limit = 64'000'000)
      : directory_{std::move(directory)}, limit_{limit} {}

  /// Returns the record as it was put; nothing if there is none, or if its file is damaged.
  std::optional<std::string> get(const std::string& name) const;
  void put(const std::string& name, const std::string& record) const;

private:
  std::filesystem::path directory_;
  std::uint64_t limit_;
};

}  // namespace autopack::state
