#pragma once

#include "base/content_hash.hpp"
#include "source/tree.hpp"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopack {
struct Cancellation;
}

namespace autopack::state {

/// Cached facts about a file's contents.
struct FileFacts {
  ContentHash content;
  bool cleared{false};  ///< source::SecretScan found nothing
};

/// Facts about files that did not change since they were last read. A file is recognised by size,
/// times and inode, as in git's index, or by its identity in git. Each working directory has one
/// file, which is mapped and read without a lock, and replaced as a whole; a damaged or foreign
/// file counts as empty. A file that changes at the moment it is hashed can keep its time stamp. So
/// a digest is stored only if both times are at least two seconds older than the moment of the
/// request (FAT's time stamps have two seconds).
class FileHashes {
public:
  /// `file` is the path of the table. `cancellation` also interrupts reading a file; it may be
  /// null.
  explicit FileHashes(std::filesystem::path file, const Cancellation* cancellation = nullptr);
  ~FileHashes();
  FileHashes(const FileHashes&) = delete;
  FileHashes& operator=(const FileHashes&) = delete;

  /// Returns the facts about `entry`, the file `path` of `tree`, from the table or by reading the
  /// file once. Fastest if the files come in the same order as last time. Throws
  /// Interrupted.
  FileFacts of(const source::Tree& tree, std::string_view path, const source::Entry& entry);
  /// Returns the number of files in the table.
  std::size_t count() const;
  /// Writes the table if it changed: the files that were requested since the object was made.
  /// Ignores failures: the next run then hashes again.
  void save();

private:
  struct Record;
  class Table;

  bool may_be_kept(const source::Entry& entry) const;
  std::uint64_t place_of(const source::Tree& tree);
  FileFacts read(const source::Tree& tree, std::string_view path) const;

  std::filesystem::path file_;
  const Cancellation* cancellation_;
  std::unique_ptr<Table> old_;
  std::vector<std::uint32_t> asked_;  ///< indexes into old_, then into fresh_
  std::deque<Record> fresh_;
  std::int64_t now_ns_;
  const source::Tree* tree_{nullptr};  ///< the last tree, and the hash of its location
  std::uint64_t place_{0};
};

}  // namespace autopack::state
