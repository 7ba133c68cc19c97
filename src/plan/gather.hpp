#pragma once

#include "plan/plan.hpp"

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
  /// `index` is that of `place` in Plan::trees. Contents are read on the way when there is a reader
  /// and nothing is wrong yet. `ignore` and `contents` must outlive this object.
  Gatherer(PlacedTree place,
           std::uint16_t index,
           const source::IgnoreRules& ignore,
           const ContentReader* contents);

  /// The file or directory `path` with all in it that is not ignored; "" is the whole tree.
  void add(const std::string& path);

  /// That rules leave nothing to copy is no fault.
  void allow_nothing() { may_be_empty_ = true; }

  /// All entries so far, sorted by path, each once; the object is empty then.
  std::vector<ContextEntry> take();

  /// All findings so far; a file that cannot be read is one.
  Problems problems() const { return problems_; }

private:
  void add_directory(const std::string& path);
  void add_parents(const std::string& path);
  void keep(source::Entry&& entry);
  void read_contents(ContextEntry& entry, const source::Entry& found);
  void refuse_ignored(const std::string& path, const source::Rule& rule);

  PlacedTree place_;
  std::uint16_t index_;
  const source::IgnoreRules& ignore_;
  const ContentReader* contents_;
  bool may_be_empty_{false};
  std::vector<ContextEntry> entries_{};
  std::unordered_set<std::string> refused_{};
  Problems problems_{};
};

}  // namespace autopack::plan
