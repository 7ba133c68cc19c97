#pragma once

#include "index/access.hpp"
#include "index/candidate.hpp"
#include "index/simple_page.hpp"
#include "state/blob_cache.hpp"
#include "state/store.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// Size limit of a METADATA file, in bytes.
constexpr std::size_t largest_metadata{std::size_t{16} << 20U};

/// All indexes and find-links places of the settings, as one. Thread-safe.
class IndexClient {
public:
  /// Caches pages and metadata below `cache`. `access` must outlive it.
  IndexClient(const Access& access, const std::filesystem::path& cache);

  /// Returns all wheels and source archives of `project`, for all platforms, in pip's order: local
  /// files, links, then the indexes. Returns nothing if nobody knows the project. Throws
  /// Error(remote) for an index that refuses or cannot be parsed, and Error(usage) if there is
  /// neither an index nor a find-links place.
  std::vector<Candidate> candidates(const std::string& project);

  /// The same for several projects at once, keyed by the given names.
  std::map<std::string, std::vector<Candidate>> candidates_of(
      const std::vector<std::string>& projects);

  /// Returns the METADATA of a wheel that the index offers as a separate file (PEP 658), after
  /// checking its hash; nothing if the index does not offer it. Throws Error(remote) for a wrong
  /// hash.
  std::optional<std::string> metadata(const Candidate& candidate);

private:
  std::vector<Candidate> of_index(const Location& index, const std::string& project) const;
  std::vector<Candidate> of_links(const Location& place) const;
  const std::vector<Candidate>& links();
  std::optional<PageText> page(const std::string& what, const Location& place) const;
  bool may_ask(const Location& place) const;
  std::vector<Candidate> read(const PageText& page) const;

  const Access& access_;
  PageCache pages_;
  state::BlobCache metadata_;
  std::mutex mutex_{};
  std::optional<std::vector<Candidate>> links_{};
};

}  // namespace autopack::index
