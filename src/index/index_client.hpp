#pragma once

#include "index/access.hpp"
#include "index/candidate.hpp"
#include "index/page_cache.hpp"
#include "state/blob_cache.hpp"

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace autopack::index {

/// The largest METADATA file that is read, in bytes.
constexpr std::size_t largest_metadata{std::size_t{16} << 20U};

/// All indexes and places of links of the settings, as one. Safe to use from several threads.
class IndexClient {
public:
  /// Keeps pages and metadata below `cache`. `access` must outlive it.
  IndexClient(const Access& access, const std::filesystem::path& cache);

  /// All wheels and source archives of `project`, whatever they are for, in pip's order: local
  /// files, links, then the indexes. Empty when nobody knows the project. Throws Error(remote) for
  /// an index that refuses or cannot be understood, and Error(usage) when there is neither index
  /// nor place of links.
  std::vector<Candidate> candidates(const std::string& project);

  /// The same of several projects at once, under the names as given.
  std::map<std::string, std::vector<Candidate>> candidates_of(
      const std::vector<std::string>& projects);

  /// The METADATA of a wheel that the index offers by itself (PEP 658), checked by its hash; none
  /// when it does not. Throws Error(remote) for a wrong hash.
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
