#include "project/program/remembered_python.hpp"

#include "project/program/python_records.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace autopack::project {

namespace {

/// The last characters are the version of the format, and of the facts of read_python_file.
constexpr std::string_view magic{"autopack-python-05"};
/// After the state of a file: what running it does.
constexpr std::string_view mark_of_signs{"\0signs", 6};
constexpr std::int64_t race_ns = 2'000'000'000;

/// Over all records, to detect damage.
std::string checksum(std::string_view records) {
  const std::size_t hash = std::hash<std::string_view>{}(records);
  return {reinterpret_cast<const char*>(&hash), sizeof hash};
}

}  // namespace

RememberedPython::RememberedPython(std::string saved)
    : saved_{std::move(saved)},
      now_ns_{std::chrono::duration_cast<std::chrono::nanoseconds>(
                  std::chrono::system_clock::now().time_since_epoch())
                  .count()} {
  read_records();
}

void RememberedPython::read_records() {
  std::string_view rest{saved_};
  if (rest.size() > most_bytes || !rest.starts_with(magic)) {
    return;
  }
  rest.remove_prefix(magic.size());
  const auto records = rest.substr(std::min(rest.size(), sizeof(std::size_t)));
  if (rest.substr(0, rest.size() - records.size()) != checksum(records)) {
    return;
  }
  rest = records;
  while (!rest.empty()) {
    const auto state = take_counted(rest);
    const auto facts = take_counted(rest);
    if (state && facts) {
      known_.emplace(*state, *facts);
    }
  }
}

bool RememberedPython::may_be_kept(const source::Entry& entry) const {
  return entry.identity || std::max(entry.mtime_ns, entry.ctime_ns) + race_ns < now_ns_;
}

/// Returns the cached facts of a file in a state, or nothing.
std::optional<std::string_view> RememberedPython::facts_of(const std::string& state) {
  if (const auto known = known_.find(state); known != known_.end()) {
    asked_.insert(known->first);
    return known->second;
  }
  const auto known = fresh_.find(state);
  return known == fresh_.end() ? std::nullopt : std::optional<std::string_view>{known->second};
}

PythonFile RememberedPython::of(const source::Tree& tree, const source::Entry& entry) {
  if (entry.inode == 0 && !entry.identity) {
    return read_python_file(tree.read(entry.path));
  }
  std::string state = state_of(entry);
  if (const auto known = facts_of(state)) {
    if (auto file = python_file_of(*known)) {
      return std::move(*file);
    }
  }
  PythonFile file = read_python_file(tree.read(entry.path));
  if (may_be_kept(entry)) {
    fresh_.insert_or_assign(std::move(state), to_bytes(file));
  }
  return file;
}

ProgramSigns RememberedPython::signs_of(const source::Tree& tree, const source::Entry& entry) {
  if (entry.inode == 0 && !entry.identity) {
    return read_program_signs(tree.read(entry.path));
  }
  std::string state = state_of(entry) + std::string{mark_of_signs};
  if (const auto known = facts_of(state); known && known->size() == 1) {
    return signs_of_byte(static_cast<std::uint8_t>(known->front()));
  }
  const auto signs = read_program_signs(tree.read(entry.path));
  if (may_be_kept(entry)) {
    fresh_.insert_or_assign(std::move(state), std::string(1, static_cast<char>(to_byte(signs))));
  }
  return signs;
}

std::optional<std::string> RememberedPython::text_to_save() const {
  if (fresh_.empty() && (asked_.empty() || asked_.size() == known_.size())) {
    return std::nullopt;
  }
  std::string records;
  const auto add = [&](std::string_view state, std::string_view facts) {
    const auto more = state.size() + facts.size() + 2 * sizeof(std::uint32_t);
    if (magic.size() + sizeof(std::size_t) + records.size() + more <= most_bytes) {
      append_counted(records, state);
      append_counted(records, facts);
    }
  };
  for (const auto& [state, facts] : fresh_) {
    add(state, facts);
  }
  for (const std::string_view state : asked_) {
    if (!fresh_.contains(std::string{state})) {
      add(state, known_.at(state));
    }
  }
  return std::string{magic} + checksum(records) + records;
}

}  // namespace autopack::project
