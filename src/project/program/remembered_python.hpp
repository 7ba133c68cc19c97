#pragma once

#include "project/code/program_signs.hpp"
#include "project/code/python_file.hpp"
#include "source/tree.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace autopack::project {

/// Caches the facts in Python files between runs. A file is unchanged if its size, times and inode
/// are, as in git's index, or its identity in git. Does not access the disk: its owner loads and
/// stores a text. A damaged, foreign or outdated text counts as empty.
/// A file changed at the moment of reading can keep its time stamp, so one is cached only if both
/// times are at least two seconds older than this object (two seconds: the resolution of FAT).
class RememberedPython {
public:
  /// `saved` is a result of text_to_save; initially empty.
  explicit RememberedPython(std::string saved = {});

  RememberedPython(const RememberedPython&) = delete;
  RememberedPython& operator=(const RememberedPython&) = delete;

  /// Returns the facts in the file `entry` of `tree`, cached or read. Throws as Tree::read does.
  PythonFile of(const source::Tree& tree, const source::Entry& entry);

  /// Returns what running that file does, cached or read. Throws as Tree::read does.
  ProgramSigns signs_of(const source::Tree& tree, const source::Entry& entry);

  /// Returns the facts about the requested files, at most `most_bytes`; nothing if `saved` is the
  /// same, or nothing was requested.
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

/// Serializes the facts in a Python file.
std::string to_bytes(const PythonFile& file);

/// Parses the result of to_bytes; returns nothing if `text` is invalid.
std::optional<PythonFile> python_file_of(std::string_view text);

/// Returns bytes that identify the state of a file.
std::string state_of(const source::Entry& entry);

/// Appends `bytes` after their length.
void append_counted(std::string& text, std::string_view bytes);

/// Consumes an append_counted value at the front of `text`; returns nothing if it is incomplete.
std::optional<std::string_view> take_counted(std::string_view& text);

}  // namespace autopack::project
