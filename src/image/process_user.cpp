#include "image/process_user.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace autopack::image {

namespace {

std::optional<unsigned> number(const std::string& text) {
  unsigned value = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  return code == std::errc{} && stop == end && value < std::numeric_limits<unsigned>::max()
             ? std::optional{value}
             : std::nullopt;
}

/// Returns the fields of the line of a user database whose field `key` is `value`.
std::optional<std::vector<std::string>> find_line(const std::optional<std::string>& text,
                                                  std::size_t key,
                                                  const std::string& value) {
  constexpr std::size_t needed{3};  // name, password, number
  for (const auto& line : split(text.value_or(""), '\n')) {
    auto fields = split(line, ':');
    if (fields.size() >= needed && fields[key] == value) {
      return fields;
    }
  }
  return std::nullopt;
}

Error unknown(const char* kind, const std::string& name) {
  return std::move(
      Error(ErrorKind::environment, fmt::format("the image has no {} `{}`", kind, printable(name)))
          .hint("`USER` of the image names it"));
}

/// Returns the groups whose line in a group database lists the user `name`.
std::vector<unsigned> groups_of(const std::string& name, const std::optional<std::string>& text) {
  constexpr std::size_t members{3};
  std::vector<unsigned> found;
  for (const auto& line : split(text.value_or(""), '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() > members && contains(split(fields[members], ','), name)) {
      if (const auto id = number(fields[2])) {
        found.push_back(*id);
      }
    }
  }
  return found;
}

}  // namespace

ProcessUser process_user(const std::string& text, const ReadFile& read) {
  ProcessUser result;
  const auto parts = split(text, ':');
  const std::string& name = parts.front();
  const auto passwords = read("etc/passwd");
  std::optional<std::vector<std::string>> line;
  if (!name.empty()) {
    line = find_line(passwords, 0, name);
    const auto id = line ? number((*line)[2]) : number(name);
    if (!id) {
      throw unknown("user", name);
    }
    result.user = *id;
  }
  if (!line) {
    line = find_line(passwords, 2, std::to_string(result.user));
  }
  if (line && line->size() > 3) {
    result.group = number((*line)[3]).value_or(0);
  }
  if (parts.size() > 1 && !parts[1].empty()) {
    const auto group = find_line(read("etc/group"), 0, parts[1]);
    const auto id = group ? number((*group)[2]) : number(parts[1]);
    if (!id) {
      throw unknown("group", parts[1]);
    }
    result.group = *id;
  } else if (line) {
    result.more_groups = groups_of((*line)[0], read("etc/group"));
  }
  constexpr std::size_t home{5};
  if (line && line->size() > home && !(*line)[home].empty()) {
    result.home = (*line)[home];
  }
  return result;
}

}  // namespace autopack::image
