#include "project/program/remembered_python.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
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

namespace {

constexpr unsigned nested_bit{1};
constexpr unsigned optional_bit{2};
constexpr unsigned when_main_bit{4};

// The bits of a file.
constexpr unsigned path_bit{1};
constexpr unsigned modules_bit{2};

/// Minimum sizes in bytes, with empty texts.
constexpr std::size_t least_name{4};
constexpr std::size_t least_string{12};
constexpr std::size_t least_import{20};

template <typename T>
void append(std::string& text, T number) {
  static_assert(std::is_integral_v<T>);
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append_number(std::string& text, std::size_t number) {
  append(text, static_cast<std::uint32_t>(number));
}

void append_import(std::string& text, const Import& import) {
  append_counted(text, import.module);
  append(text, import.level);
  append(text, import.line);
  append_number(text, (import.nested ? nested_bit : 0) | (import.optional ? optional_bit : 0) |
                          (import.when_main ? when_main_bit : 0));
  append_number(text, import.names.size());
  for (const auto& name : import.names) {
    append_counted(text, name);
  }
}

/// Reads values from the front of untrusted bytes. Missing values are empty or 0.
class Bytes {
public:
  explicit Bytes(std::string_view bytes) : rest_{bytes} {}

  /// Returns true if nothing was missing and nothing is left.
  bool are_used_up() const { return is_whole_ && rest_.empty(); }

  template <typename T>
  T number() {
    T value{};
    if (rest_.size() < sizeof value) {
      is_whole_ = false;
      rest_ = {};
    } else {
      std::memcpy(&value, rest_.data(), sizeof value);
      rest_.remove_prefix(sizeof value);
    }
    return value;
  }

  /// Returns the number of the following values, each of at least `least` bytes: the available
  /// bytes limit the memory that it reserves for them.
  std::size_t count(std::size_t least) {
    const std::size_t value = number<std::uint32_t>();
    is_whole_ = is_whole_ && value <= rest_.size() / least;
    return is_whole_ ? value : 0;
  }

  std::string text() {
    const auto taken = take_counted(rest_);
    is_whole_ = is_whole_ && taken;
    return std::string{taken.value_or("")};
  }

private:
  std::string_view rest_;
  bool is_whole_{true};
};

Import take_import(Bytes& bytes) {
  Import import{.module = bytes.text()};
  import.level = bytes.number<int>();
  import.line = bytes.number<int>();
  const auto bits = bytes.number<std::uint32_t>();
  import.nested = (bits & nested_bit) != 0;
  import.optional = (bits & optional_bit) != 0;
  import.when_main = (bits & when_main_bit) != 0;
  import.names.resize(bytes.count(least_name));
  for (auto& name : import.names) {
    name = bytes.text();
  }
  return import;
}

}  // namespace

void append_counted(std::string& text, std::string_view bytes) {
  append_number(text, bytes.size());
  text += bytes;
}

std::optional<std::string_view> take_counted(std::string_view& text) {
  std::uint32_t size{};
  if (text.size() < sizeof size) {
    text = {};
    return std::nullopt;
  }
  std::memcpy(&size, text.data(), sizeof size);
  text.remove_prefix(sizeof size);
  if (text.size() < size) {
    text = {};
    return std::nullopt;
  }
  const auto taken = text.substr(0, size);
  text.remove_prefix(size);
  return taken;
}

std::string to_bytes(const PythonFile& file) {
  std::string text;
  append_number(text,
                (file.changes_path ? path_bit : 0) | (file.changes_modules ? modules_bit : 0));
  for (const auto& line : {file.python2_line, file.notebook_line, file.ipython_line}) {
    append(text, line.value_or(0));
  }
  append(text, file.script_block_line);
  append_counted(text, file.script_block);
  append_number(text, file.imports.size());
  for (const auto& import : file.imports) {
    append_import(text, import);
  }
  append_number(text, file.strings.size());
  for (const auto& string : file.strings) {
    append_counted(text, string.text);
    append(text, string.line);
    append_number(text, string.computed ? 1 : 0);
  }
  return text;
}

std::optional<PythonFile> python_file_of(std::string_view text) {
  Bytes bytes{text};
  PythonFile file;
  const auto bits = bytes.number<std::uint32_t>();
  file.changes_path = (bits & path_bit) != 0;
  file.changes_modules = (bits & modules_bit) != 0;
  for (auto* const place : {&file.python2_line, &file.notebook_line, &file.ipython_line}) {
    if (const int line = bytes.number<int>(); line != 0) {
      *place = line;
    }
  }
  file.script_block_line = bytes.number<int>();
  file.script_block = bytes.text();
  file.imports.resize(bytes.count(least_import));
  for (auto& import : file.imports) {
    import = take_import(bytes);
  }
  file.strings.resize(bytes.count(least_string));
  for (auto& string : file.strings) {
    string.text = bytes.text();
    string.line = bytes.number<int>();
    string.computed = bytes.number<std::uint32_t>() != 0;
  }
  return bytes.are_used_up() ? std::optional{std::move(file)} : std::nullopt;
}

std::string state_of(const source::Entry& entry) {
  std::string text;
  append_counted(text, entry.path);
  append_counted(text, entry.identity.value_or(""));
  append(text, entry.size);
  append(text, entry.inode);
  append(text, entry.mtime_ns);
  append(text, entry.ctime_ns);
  return text;
}

}  // namespace autopack::project
