#pragma once

#include "plan/plan.hpp"

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace autopack::plan {

/// Finds out what files hold.
struct ContentReader {
  state::FileHashes* hashes{nullptr};               ///< of files read before; null: none remembered
  const std::vector<ContextEntry>* known{nullptr};  ///< sorted by path; not read again. Null: none

  /// Fills in digest and clearance of `entry`, which `found` is in `place`.
  void fill(ContextEntry& entry, const source::Entry& found, const PlacedTree& place) const;
};

/// Lists what copies take out of one tree, and finds what cannot travel.
class Gatherer {
public:
  /// `index` is that of `place` in ReadablePlan::trees. Contents are read when there is a reader
  /// and nothing is wrong. `ignore` and `contents` must outlive this object.
  Gatherer(PlacedTree place,
           std::uint16_t index,
           const source::Selection& ignore,
           const ContentReader* contents);

  /// From here on a whole tree is taken without its ballast.
  void leave_ballast() { leaves_ballast_ = true; }

  /// The file or directory `path` with all in it that is not ignored; "" is the whole tree.
  void add(const std::string& path);

  /// That rules leave nothing to copy is no fault.
  void allow_nothing() { may_be_empty_ = true; }

  /// All entries so far, sorted by path, each once; the object is empty then.
  std::vector<ContextEntry> take();

  /// All findings so far; a file that cannot be read is one.
  Problems problems() const { return problems_; }

  /// What was left out though no rule says so.
  const std::vector<Ballast>& ballast() const { return ballast_; }

private:
  /// What tells whether a file is as it was.
  struct State {
    std::uint64_t inode{0};
    std::int64_t ctime_ns{0};
    std::int64_t mtime_ns{0};
    std::optional<std::string> identity{};
  };

  void add_directory(const std::string& path);
  void add_parents(const std::string& path);
  void keep(source::Entry&& entry);
  bool drop_ballast(std::size_t first);
  void read_contents();
  void read_content(ContextEntry& entry, const source::Entry& found);
  void refuse_ignored(const std::string& path, const source::Rule& rule);

  PlacedTree place_;
  std::uint16_t index_;
  const source::Selection& ignore_;
  const ContentReader* contents_;
  bool may_be_empty_{false};
  std::vector<ContextEntry> entries_{};
  std::vector<State> states_{};  ///< of entries_, where contents will be read
  bool leaves_ballast_{false};
  std::vector<Ballast> ballast_{};
  std::unordered_set<std::string> refused_{};
  Problems problems_{};
};

}  // namespace autopack::plan
