#pragma once

#include "plan/plan.hpp"

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace autopack::plan {

/// Determines the content of files.
struct ContentReader {
  state::FileHashes* hashes{nullptr};               ///< cached ones; may be null
  const std::vector<ContextEntry>* known{nullptr};  ///< sorted by path; not read again; may be null

  /// Sets digest and clearance of `entry`, which is `found` in `place`.
  void fill(ContextEntry& entry, const source::Entry& found, const PlacedTree& place) const;
};

/// Lists the entries that copies take from one tree, and finds those that cannot be packaged.
class Gatherer {
public:
  /// `index` is that of `place` in ReadablePlan::trees. Reads contents if there is a reader and no
  /// error. `ignore` and `contents` must outlive this object.
  Gatherer(PlacedTree place,
           std::uint16_t index,
           const source::Selection& ignore,
           const ContentReader* contents);

  /// From here on, excludes the large directories of a whole tree.
  void leave_large_directories() { leaves_large_directories_ = true; }

  /// Adds the file or directory `path` with everything in it that is not ignored; "" is the whole
  /// tree.
  void add(const std::string& path);

  /// Accepts that rules exclude everything.
  void allow_nothing() { may_be_empty_ = true; }

  /// Returns all entries so far, sorted by path, without duplicates; the object is empty
  /// afterwards.
  std::vector<ContextEntry> take();

  /// Returns all findings so far, including unreadable files.
  Problems problems() const { return problems_; }

  /// Returns the large directories that it excluded without a rule.
  const std::vector<LargeDirectory>& large_directories() const { return large_directories_; }

private:
  /// Identifies the state of a file.
  struct State {
    std::uint64_t inode{0};
    std::int64_t ctime_ns{0};
    std::int64_t mtime_ns{0};
    std::optional<std::string> identity{};
  };

  void add_directory(const std::string& path);
  void add_parents(const std::string& path);
  void keep(source::Entry&& entry);
  bool drop_large_directories(std::size_t first);
  void read_contents();
  void read_content(ContextEntry& entry, const source::Entry& found);
  void refuse_ignored(const std::string& path, const source::Rule& rule);

  PlacedTree place_;
  std::uint16_t index_;
  const source::Selection& ignore_;
  const ContentReader* contents_;
  bool may_be_empty_{false};
  std::vector<ContextEntry> entries_{};
  std::vector<State> states_{};  ///< of entries_ whose contents will be read
  bool leaves_large_directories_{false};
  std::vector<LargeDirectory> large_directories_{};
  std::unordered_set<std::string> refused_{};
  Problems problems_{};
};

}  // namespace autopack::plan
