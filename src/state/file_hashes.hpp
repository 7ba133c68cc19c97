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

/// What is remembered of a file's contents.
struct FileFacts {
  ContentHash content;
  bool cleared{false};  ///< source::SecretScan found nothing
};

/// Facts of files that did not change since they were last read, told by size, times and inode as
/// git's index does, or by their identity in git. One file for each working directory, mapped and
/// read without a lock, replaced as a whole; a damaged or foreign file counts as empty.
///
/// The race rule: a file changed in the instant of its hashing can keep its time stamp, so a digest
/// is remembered only when both times are at least two seconds older than the moment it was asked
/// for (two seconds: FAT's time stamps).
class FileHashes {
public:
  /// `file` is where the table is kept. `cancellation` ends the reading of a file too; it may be
  /// null.
  explicit FileHashes(std::filesystem::path file, const Cancellation* cancellation = nullptr);
  ~FileHashes();
  FileHashes(const FileHashes&) = delete;
  FileHashes& operator=(const FileHashes&) = delete;

  /// The facts of `entry`, the file `path` of `tree`, from the table or by reading it once.
  /// Quickest in the order of the last time. Throws Error(interrupted).
  FileFacts of(const source::Tree& tree, std::string_view path, const source::Entry& entry);
  /// How many files are remembered.
  std::size_t count() const;
  /// Writes the table when it changed: the files asked for since the object was made. A failure is
  /// no error, the next run hashes again.
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
  std::vector<std::uint32_t> asked_;  ///< records of old_, then those of fresh_
  std::deque<Record> fresh_;
  std::int64_t now_ns_;
  const source::Tree* tree_{nullptr};  ///< the last one, and the hash of where it is
  std::uint64_t place_{0};
};

}  // namespace autopack::state
