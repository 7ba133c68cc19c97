#include "wheel/texts.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace autopack::wheel {

namespace {

using namespace std::string_view_literals;

Error fault(std::string_view file, const std::string& why) {
  return {ErrorKind::project, "`" + std::string{file} + "` " + why};
}

std::string shortly_quoted(std::string_view text) {
  constexpr std::size_t most{100};
  return "`" + printable(text.substr(0, most)) + (text.size() > most ? "..." : "") + "`";
}

void check_utf8(std::string_view file, std::string_view text) {
  if (!is_utf8(text)) {
    throw fault(file, "is not in UTF-8");
  }
}

/// Returns the length of the line end at the start of `text`, as in Python's str.splitlines; 0 if
/// there is none.
std::size_t line_end(std::string_view text) {
  for (const auto end : {"\r\n"sv, "\n"sv, "\r"sv, "\v"sv, "\f"sv, "\x1c"sv, "\x1d"sv, "\x1e"sv,
                         "\xc2\x85"sv, "\xe2\x80\xa8"sv, "\xe2\x80\xa9"sv}) {
    if (text.starts_with(end)) {
      return end.size();
    }
  }
  return 0;
}

/// Passes each line to `take`, without its end.
template <class Take>
void each_line(std::string_view text, const Take& take) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = line_end(text.substr(i));
    if (end > 0) {
      take(text.substr(begin, i - begin));
      begin = i + end;
    }
    i += std::max<std::size_t>(end, 1);
  }
  if (begin < text.size()) {
    take(text.substr(begin));
  }
}

struct Header {
  std::string name{};  ///< lower case
  std::string value{};
};

/// Returns the headers of a message (RFC 822), up to the first line that is not a header.
std::vector<Header> read_headers(std::string_view text) {
  std::vector<Header> headers;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\r\n"), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(end);
    text.remove_prefix(text.starts_with("\r\n") ? 2 : text.empty() ? 0 : 1);
    if (line.starts_with(' ') || line.starts_with('\t')) {
      if (headers.empty()) {
        break;
      }
      headers.back().value += " " + std::string{trim(line)};
      continue;
    }
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    if (colon == std::string_view::npos || name.find_first_of(" \t") != std::string_view::npos) {
      break;
    }
    headers.push_back({.name = to_lower(name), .value = std::string{trim(line.substr(colon + 1))}});
  }
  return headers;
}

std::optional<std::string> first(const std::vector<Header>& headers, std::string_view name) {
  const auto found =
      std::ranges::find_if(headers, [&](const Header& header) { return header.name == name; });
  return found == headers.end() ? std::nullopt : std::optional{found->value};
}

std::vector<std::string> all(const std::vector<Header>& headers, std::string_view name) {
  std::vector<std::string> values;
  for (const auto& header : headers) {
    if (header.name == name) {
      values.push_back(header.value);
    }
  }
  return values;
}

/// Returns the number if all of `text` is one, else nothing.
std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.begin(), text.end(), value);
  const bool is_number = code == std::errc{} && end == text.end() && value >= 0;
  return is_number ? std::optional{value} : std::nullopt;
}

/// Returns the fields of a line as Python's csv module reads them.
std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields{""};
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    auto& field = fields.back();
    if (is_quoted) {
      if (line[i] != '"') {
        field += line[i];
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        field += line[++i];
      } else {
        is_quoted = false;
        if (i + 1 < line.size() && line[i + 1] != ',') {
          throw fault("RECORD", "has a line that cannot be read: " + shortly_quoted(line));
        }
      }
    } else if (line[i] == ',') {
      fields.emplace_back();
    } else if (line[i] == '"' && field.empty()) {
      is_quoted = true;
    } else {
      field += line[i];
    }
  }
  if (is_quoted) {
    throw fault("RECORD", "has a line that cannot be read: " + shortly_quoted(line));
  }
  return fields;
}

std::string csv_field(const std::string& text) {
  return text.find_first_of(",\"\r\n") == std::string::npos
             ? text
             : "\"" + replace_all(text, "\"", "\"\"") + "\"";
}

/// True for names such as `a.b`, in letters of any script.
bool is_dotted_name(std::string_view text) {
  for (const auto& part : split(text, '.')) {
    const bool is_name =
        !part.empty() && (part[0] < '0' || part[0] > '9') && std::ranges::all_of(part, [](char c) {
          return static_cast<unsigned char>(c) >= 0x80 || is_alphanumeric({&c, 1}, "_");
        });
    if (!is_name) {
      return false;
    }
  }
  return true;
}

bool is_program_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && printable(name) == name &&
         name.find_first_of("/ \"'") == std::string_view::npos && !name.starts_with(".wh.");
}

EntryPoint read_entry_point(std::string_view line) {
  const auto wrong = [&](const char* why) {
    return fault("entry_points.txt", std::string{why} + ": " + shortly_quoted(line));
  };
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) {
    throw wrong("has a line that cannot be read");
  }
  EntryPoint entry{.name = std::string{trim(line.substr(0, equals))}};
  auto value = trim(line.substr(equals + 1));
  if (value.ends_with(']')) {  // extras, which nothing uses
    value = trim(value.substr(0, std::min(value.find('['), value.size())));
  }
  const auto colon = value.find(':');
  if (colon == std::string_view::npos) {
    throw wrong("names a program without a function to call");
  }
  entry.module = trim(value.substr(0, colon));
  entry.callable = trim(value.substr(colon + 1));
  if (!is_program_name(entry.name)) {
    throw wrong("names a program with an invalid file name");
  }
  if (!is_dotted_name(entry.module) || !is_dotted_name(entry.callable)) {
    throw wrong("has a line that cannot be read");
  }
  return entry;
}

}  // namespace

Metadata read_metadata(std::string_view text) {
  check_utf8("METADATA", text);
  const auto headers = read_headers(text);
  const auto name = first(headers, "name");
  const auto version = first(headers, "version");
  if (!name || !version) {
    throw fault("METADATA", name ? "has no version" : "has no name");
  }
  return {.name = *name,
          .version = *version,
          .requires_dist = all(headers, "requires-dist"),
          .requires_python = first(headers, "requires-python"),
          .provides_extra = all(headers, "provides-extra")};
}

Format read_format(std::string_view text) {
  check_utf8("WHEEL", text);
  const auto headers = read_headers(text);
  const auto version = first(headers, "wheel-version");
  if (!version) {
    throw fault("WHEEL", "has no format version");
  }
  const auto parts = split(*version, '.');
  const auto major = number(parts[0]);
  const auto minor = parts.size() < 2 ? std::optional{0} : number(parts[1]);
  if (!major || !minor) {
    throw fault("WHEEL", "has an invalid format version: " + shortly_quoted(*version));
  }
  if (*major != 1) {
    throw fault("WHEEL", "has format version " + *version + "; only 1.x is supported");
  }
  return {.major = *major,
          .minor = *minor,
          .root_is_purelib = to_lower(first(headers, "root-is-purelib").value_or("")) == "true"};
}

std::vector<RecordRow> read_record(std::string_view text) {
  check_utf8("RECORD", text);
  std::vector<RecordRow> rows;
  each_line(text, [&](std::string_view line) {
    if (line.empty()) {
      return;
    }
    auto fields = csv_fields(line);
    fields.resize(std::max<std::size_t>(fields.size(), 3));
    rows.push_back({.path = std::move(fields[0]),
                    .hash = non_empty(std::move(fields[1])),
                    .size = non_empty(std::move(fields[2]))});
  });
  return rows;
}

std::string write_record(std::vector<RecordRow> rows) {
  std::ranges::sort(rows);
  std::string text;
  for (const auto& row : rows) {
    text += csv_field(row.path) + "," + csv_field(row.hash.value_or("")) + "," +
            csv_field(row.size.value_or("")) + "\r\n";
  }
  return text;
}

std::optional<ContentHash> recorded_hash(const RecordRow& row) {
  constexpr auto algorithm = "sha256="sv;
  if (!row.hash || !row.hash->starts_with(algorithm)) {
    return std::nullopt;
  }
  const auto bytes = base64_decode(std::string_view{*row.hash}.substr(algorithm.size()));
  ContentHash::Bytes hash{};
  if (!bytes || bytes->size() != hash.size()) {
    throw fault("RECORD", "has an invalid hash: " + shortly_quoted(*row.hash));
  }
  std::ranges::copy(*bytes, hash.begin());
  return ContentHash{hash};
}

std::string record_hash(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return "sha256=" + base64url_encode(ContentHash{hash.finish_bytes()}.view());
}

EntryPoints read_entry_points(std::string_view text) {
  check_utf8("entry_points.txt", text);
  std::map<std::string, EntryPoint> console;
  std::map<std::string, EntryPoint> gui;
  std::string group;
  each_line(text, [&](std::string_view whole) {
    const auto line = trim(whole);
    if (line.empty() || line.starts_with('#')) {
      return;
    }
    if (line.starts_with('[') && line.ends_with(']')) {
      const auto begin = std::min(line.find_first_not_of("[]"), line.size());
      group = line.substr(begin, line.find_last_not_of("[]") + 1 - begin);
      return;
    }
    const bool is_gui = group == "gui_scripts";
    if (!is_gui && group != "console_scripts") {
      return;
    }
    auto entry = read_entry_point(line);
    auto name = entry.name;
    (is_gui ? gui : console).insert_or_assign(std::move(name), std::move(entry));
  });
  EntryPoints points;
  for (auto& [name, entry] : console) {
    points.console.push_back(std::move(entry));
  }
  for (auto& [name, entry] : gui) {
    points.gui.push_back(std::move(entry));
  }
  return points;
}

}  // namespace autopack::wheel
