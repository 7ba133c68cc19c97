#pragma once

#include "index/simple_page.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace autopack::index {

/// A page as it was answered, and what asks whether it still stands so.
struct KeptPage {
  PageText page{};
  std::optional<std::string> etag{};
  std::optional<std::string> last_modified{};
};

/// Pages of indexes by their URL, in a directory of files for their owner alone. What is damaged
/// counts as absent, and a failure to write is no error.
class PageCache {
public:
  /// `limit` bounds the directory, in bytes; the oldest files go first.
  explicit PageCache(std::filesystem::path directory, std::uint64_t limit = 512'000'000)
      : directory_{std::move(directory)}, limit_{limit} {}

  /// `url` and `user` as the page was asked for: another login may see another page.
  std::optional<KeptPage> get(const std::string& url, const std::string& user) const;
  /// A page that nothing could ask about again is not kept.
  void put(const std::string& url, const std::string& user, const KeptPage& kept) const;

private:
  std::filesystem::path directory_;
  std::uint64_t limit_;
};

}  // namespace autopack::index
