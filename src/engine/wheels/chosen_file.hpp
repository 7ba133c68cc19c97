#pragma once

#include "base/digest.hpp"
#include "index/candidate.hpp"
#include "index/download.hpp"
#include "lock/locked_set.hpp"
#include "lock/select.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::engine {

/// The SHA-256 among `hashes`; none when there is none, or several files would do.
std::optional<Digest> only_digest(const std::vector<python::Hash>& hashes);

/// The file that was chosen for a package.
struct ChosenFile {
  std::string name{};
  std::string url{};      ///< without a login
  Digest digest;          ///< of its bytes
  std::uint64_t size{0};  ///< in bytes

  index::Download download() const;

  /// One line, to be remembered.
  std::string text() const;
  /// None when `text` is no such line.
  static std::optional<ChosenFile> read(std::string_view text);

  /// None when `file` does not tell its digest and its size.
  static std::optional<ChosenFile> of(const index::Download& file);
};

/// What an index offers, for lock::FileChooser. Hashes that pip does not trust count as none.
std::vector<lock::Candidate> to_candidates(const std::vector<index::Candidate>& offered);

/// How to fetch `file` for `package`. Where the package names hashes, the file must have one of
/// these, whatever the index says of it.
index::Download download_of(const lock::LockedPackage& package, const index::Candidate& file);

/// How to fetch a file that a lock names by its URL.
index::Download download_of(const lock::LockedFile& file);

}  // namespace autopack::engine
