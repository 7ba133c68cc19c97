#pragma once

#include "base/digest.hpp"
#include "source/tree.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace autopack::state {

/// What is remembered of a file's contents.
struct FileFacts {
  Digest digest;
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
  /// `file` is where the table is kept.
  explicit FileHashes(std::filesystem::path file);
  ~FileHashes();
  FileHashes(const FileHashes&) = delete;
  FileHashes& operator=(const FileHashes&) = delete;

  /// The facts of `entry`, a file of `tree`, from the table or by reading it once.
  FileFacts of(const source::Tree& tree, const source::Entry& entry);
  /// Writes the table when it changed: the files asked for since the object was made. A failure is
  /// no error, the next run hashes again.
  void save();

private:
  struct Record;
  class Table;

  bool may_be_kept(const source::Entry& entry) const;

  std::filesystem::path file_;
  std::unique_ptr<Table> old_;
  std::vector<Record> fresh_;
  std::int64_t now_ns_;
  bool changed_{false};
};

}  // namespace autopack::state
