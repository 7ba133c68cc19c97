#include "project/remembered_python.hpp"

#include "project/python_records.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace autopack::project {

namespace {

/// The last characters are the version of the format, and of what read_python_file finds.
constexpr std::string_view magic{"autopack-python-02"};
constexpr std::int64_t race_ns = 2'000'000'000;

/// Of all records, to notice damage.
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

PythonFile RememberedPython::of(const source::Tree& tree, const source::Entry& entry) {
  if (entry.inode == 0 && !entry.identity) {
    return read_python_file(tree.read(entry.path));
  }
  std::string state = state_of(entry);
  if (const auto known = known_.find(state); known != known_.end()) {
    if (auto file = python_file_of(known->second)) {
      asked_.insert(known->first);
      return std::move(*file);
    }
  }
  PythonFile file = read_python_file(tree.read(entry.path));
  if (may_be_kept(entry)) {
    std::string record;
    append_counted(record, state);
    append_counted(record, to_bytes(file));
    fresh_.push_back(std::move(record));
  }
  return file;
}

std::optional<std::string> RememberedPython::text_to_save() const {
  if (fresh_.empty() && (asked_.empty() || asked_.size() == known_.size())) {
    return std::nullopt;
  }
  std::string records;
  const auto has_room = [&](std::size_t more) {
    return magic.size() + sizeof(std::size_t) + records.size() + more <= most_bytes;
  };
  for (const std::string& record : fresh_) {
    if (has_room(record.size())) {
      records += record;
    }
  }
  for (const std::string_view state : asked_) {
    const std::string_view facts = known_.at(state);
    if (has_room(state.size() + facts.size() + 2 * sizeof(std::uint32_t))) {
      append_counted(records, state);
      append_counted(records, facts);
    }
  }
  return std::string{magic} + checksum(records) + records;
}

}  // namespace autopack::project
