#pragma once

#include "plan/plan.hpp"

#include <string>
#include <unordered_set>
#include <vector>

namespace autopack::plan {

/// Lists what copies take out of one tree, and finds what cannot travel.
class Gatherer {
public:
  /// `prefix` stands before each path in the context; both references must outlive this object.
  Gatherer(const source::Tree& tree,
           std::size_t index,
           const source::IgnoreRules& ignore,
           std::string prefix);

  /// The file or directory `path` with all in it that is not ignored; "" is the whole tree.
  void add(const std::string& path);

  /// All entries so far, sorted by path, each once; the object is empty then.
  std::vector<ContextEntry> take();

  /// All findings so far.
  Problems problems() const { return problems_; }

private:
  void add_directory(const std::string& path);
  void add_parents(const std::string& path);
  void keep(const source::Entry& entry);
  void refuse_ignored(const std::string& path, const source::Rule& rule);

  const source::Tree& tree_;
  std::size_t index_;
  const source::IgnoreRules& ignore_;
  std::string prefix_;
  std::vector<ContextEntry> entries_{};
  std::unordered_set<std::string> refused_{};
  Problems problems_{};
};

/// Reads what `entries` name and fills in their digests; those in `known` (sorted by path) are not
/// read again, nor those that `hashes` remembers (null: none).
void fill_contents(std::vector<ContextEntry>& entries,
                   const std::vector<ContextEntry>& known,
                   const std::vector<std::shared_ptr<const source::Tree>>& trees,
                   state::FileHashes* hashes);

}  // namespace autopack::plan
