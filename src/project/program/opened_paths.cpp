#include "project/program/opened_paths.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace autopack::project {

namespace {

constexpr std::array<std::string_view, 27> readers{
    "open(",        "read_text(",  "read_bytes(",  "read_csv(",      "read_table(",
    "read_json(",   "read_excel(", "read_pickle(", "read_parquet(",  "read_feather(",
    "read_yaml(",   "read_file(",  "loadtxt(",     "genfromtxt(",    "imread(",
    "load(",        "load_json(",  "load_yaml(",   "load_config(",   "load_file(",
    "from_file(",   "fromfile(",   "safe_load(",   "load_workbook(", "load_model(",
    "from_pickle(", "read_config("};
constexpr std::array<std::string_view, 12> writers{"write",   "save",        "dump(",   "to_csv",
                                                   "to_json", "to_parquet",  "mkdir",   "makedirs",
                                                   "touch",   "FileHandler", "savefig", "remove"};
constexpr std::array<std::string_view, 5> settings{".yaml", ".yml", ".toml", ".ini", ".cfg"};

bool holds_one_of(std::string_view text, const auto& words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// Matches `"w"`, `'ab'`: a mode of `open` that changes the file.
bool has_writing_mode(std::string_view line) {
  for (const char quote : {'"', '\''}) {
    for (auto at = line.find(quote); at != std::string_view::npos; at = line.find(quote, at + 1)) {
      const auto end = line.find(quote, at + 1);
      if (end == std::string_view::npos) {
        break;
      }
      const auto mode = line.substr(at + 1, end - at - 1);
      if (!mode.empty() && mode.size() <= 3 &&
          mode.find_first_not_of("rwaxbt+") == std::string_view::npos &&
          mode.find_first_of("wax+") != std::string_view::npos) {
        return true;
      }
    }
  }
  return false;
}

bool writes(std::string_view line) {
  return holds_one_of(line, writers) || has_writing_mode(line);
}

bool reads(std::string_view line) {
  return holds_one_of(line, readers) && !writes(line);
}

bool is_of_name(char c) {
  return is_alphanumeric(std::string_view{&c, 1}, "_");
}

/// Returns the name to which a line `NAME = ...` assigns; empty for other lines.
std::string_view assigned_name(std::string_view line) {
  line = trim(line);
  const auto* const end = std::ranges::find_if_not(line, is_of_name);
  const auto name = line.substr(0, static_cast<std::size_t>(end - line.begin()));
  const auto rest = trim(line.substr(name.size()));
  return rest.starts_with('=') && !rest.starts_with("==") ? name : std::string_view{};
}

bool holds_name(std::string_view line, std::string_view name) {
  for (auto at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const auto end = at + name.size();
    if ((at == 0 || !is_of_name(line[at - 1])) && (end == line.size() || !is_of_name(line[end]))) {
      return true;
    }
  }
  return false;
}

/// Returns the text before the string in its line, without the letters of `r"..."`.
std::string_view before_string(std::string_view line, std::size_t string) {
  while (string > 0 && (line[string - 1] == '"' || line[string - 1] == '\'')) {
    --string;
  }
  while (string > 0 &&
         std::string_view{"rRbBuU"}.find(line[string - 1]) != std::string_view::npos) {
    --string;
  }
  return trim(line.substr(0, string));
}

/// Returns true if the string is the end of a composed path.
bool is_joined(std::string_view before) {
  return before.ends_with('/') || before.ends_with('+') ||
         (before.ends_with(',') && before.find("join") != std::string_view::npos);
}

/// Returns true for a settings file passed to a variable, an option or a function that reads
/// settings.
bool are_settings(std::string_view path, std::string_view before) {
  static constexpr std::array<std::string_view, 7> words{"load", "read",  "open", "conf",
                                                         "cfg",  "parse", "yaml"};
  const bool is_settings =
      std::ranges::any_of(settings, [&](auto suffix) { return path.ends_with(suffix); });
  const auto callee = before.substr(std::min(before.find_last_of(" \t=,[") + 1, before.size()));
  return is_settings && (before.ends_with('=') ||
                         (callee.ends_with('(') && holds_one_of(to_lower(callee), words)));
}

}  // namespace

OpenedFrom opened_from(std::string_view text, int line, std::string_view path) {
  const auto lines = split(text, '\n');
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) {
    return OpenedFrom::nowhere;
  }
  const std::string& own = lines[static_cast<std::size_t>(line) - 1];
  const auto at = own.find(path);
  if (at == std::string::npos || writes(own)) {
    return OpenedFrom::nowhere;
  }
  const auto before = before_string(own, at);
  const bool goes_on = before.empty() && line > 1;
  const std::string_view above = goes_on ? trim(lines[static_cast<std::size_t>(line) - 2]) : "";
  const auto name =
      before.ends_with('=') || before.ends_with("Path(") ? assigned_name(own) : std::string_view{};
  const bool is_constant = !name.empty() && std::ranges::any_of(lines, [&](const auto& other) {
    return &other != &own && holds_name(other, name) && reads(other);
  });
  const bool is_read = reads(own) || (above.ends_with('(') && reads(above)) || is_constant ||
                       are_settings(path, before);
  if (!is_read) {
    return OpenedFrom::nowhere;
  }
  if (is_joined(before)) {
    return text.find("__file__") == std::string_view::npos ? OpenedFrom::nowhere : OpenedFrom::file;
  }
  return OpenedFrom::directory;
}

bool is_written(std::string_view text, int line, std::string_view path) {
  static constexpr std::array<std::string_view, 12> makers{
      "torch.save(", "np.save(",    "np.savez",     "np.savetxt(",  ".savefig(", ".to_csv(",
      ".to_json(",   ".to_pickle(", "joblib.dump(", "FileHandler(", ".imsave(",  ".to_parquet("};
  const auto lines = split(text, '\n');
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) {
    return false;
  }
  const std::string& own = lines[static_cast<std::size_t>(line) - 1];
  const auto at = own.find(path);
  const bool opens = own.find("open(") != std::string::npos && has_writing_mode(own);
  return at != std::string::npos && (opens || holds_one_of(own, makers)) &&
         !is_joined(before_string(own, at));
}

}  // namespace autopack::project
