#pragma once

#include "project/program_signs.hpp"
#include "project/python_file.hpp"
#include "source/tree.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace autopack::project {

/// What Python files say, taken from an earlier run where a file did not change since: told by
/// size, times and inode as git's index does, or by its identity in git. Knows no disk: a text goes
/// in and comes out. One that is damaged, foreign or of another version counts as empty.
///
/// A file changed in the instant of its reading can keep its time stamp, so one is remembered only
/// when both times are at least two seconds older than this object (two seconds: FAT's time
/// stamps).
class RememberedPython {
public:
  /// `saved` is what text_to_save returned; empty at first.
  explicit RememberedPython(std::string saved = {});

  RememberedPython(const RememberedPython&) = delete;
  RememberedPython& operator=(const RememberedPython&) = delete;

  /// What the file `entry` of `tree` says, remembered or read. Throws as Tree::read does.
  PythonFile of(const source::Tree& tree, const source::Entry& entry);

  /// What running that file does, remembered or read. Throws as Tree::read does.
  ProgramSigns signs_of(const source::Tree& tree, const source::Entry& entry);

  /// What the files that were asked for say, at most `most_bytes`; none when `saved` says the
  /// same, or nothing was asked for.
  std::optional<std::string> text_to_save() const;

  static constexpr std::size_t most_bytes{16'000'000};

private:
  void read_records();
  bool may_be_kept(const source::Entry& entry) const;
  std::optional<std::string_view> facts_of(const std::string& state);

  std::string saved_;
  std::unordered_map<std::string_view, std::string_view> known_{};  ///< facts of saved_, by state
  std::unordered_set<std::string_view> asked_{};                    ///< states of known_
  std::map<std::string, std::string> fresh_{};                      ///< facts read now, by state
  std::int64_t now_ns_;
};

}  // namespace autopack::project
