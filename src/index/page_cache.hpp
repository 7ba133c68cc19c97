#pragma once

#include "index/simple_page.hpp"
#include "state/store.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace autopack::index {

/// A page as the server sent it, with the validators to check whether it is still current.
struct KeptPage {
  PageText page{};
  std::optional<std::string> etag{};
  std::optional<std::string> last_modified{};
};

/// Caches pages of indexes by URL, in a directory whose files only their owner can read. Ignores
/// damaged files and failures to write.
class PageCache {
public:
  /// `limit` is the size of the directory in bytes; the oldest files are removed first.
  explicit PageCache(std::filesystem::path directory, std::uint64_t limit = 512'000'000)
      : store_{std::move(directory), limit} {}

  /// `url` and `user` as used for the request: another login may get another page.
  std::optional<KeptPage> get(const std::string& url, const std::string& user) const;
  /// Does not cache a page without validators.
  void put(const std::string& url, const std::string& user, const KeptPage& kept) const;

private:
  state::Store store_;
};

}  // namespace autopack::index
