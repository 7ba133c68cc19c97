#include "base/ini.hpp"

#include "base/text.hpp"

namespace autopack {

namespace {

std::size_t indentation(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? line.size() : first;
}

}  // namespace

Ini parse_ini(std::string_view text) {
  Ini ini;
  if (text.starts_with("\xef\xbb\xbf")) {
    text.remove_prefix(3);
  }
  std::map<std::string, std::string>* section = nullptr;
  std::string* value = nullptr;
  std::size_t value_indentation = 0;
  for (const auto& line : split(text, '\n')) {
    const auto content = trim(line);
    if (content.empty() || content.front() == '#' || content.front() == ';') {
      continue;
    }
    if (value != nullptr && indentation(line) > value_indentation) {
      *value += (value->empty() ? "" : "\n") + std::string{content};
      continue;
    }
    value = nullptr;
    if (content.front() == '[') {
      const auto end = content.find(']');
      section =
          end == std::string_view::npos ? nullptr : &ini[std::string{content.substr(1, end - 1)}];
      continue;
    }
    const auto separator = content.find_first_of("=:");
    if (section == nullptr || separator == std::string_view::npos || separator == 0) {
      continue;
    }
    value = &(*section)[to_lower(trim(content.substr(0, separator)))];
    *value = trim(content.substr(separator + 1));
    value_indentation = indentation(line);
  }
  return ini;
}

std::optional<std::string> find_option(const Ini& ini,
                                       std::string_view section,
                                       const std::string& option) {
  const auto found = ini.find(section);
  if (found == ini.end()) {
    return std::nullopt;
  }
  const auto value = found->second.find(option);
  return value == found->second.end() ? std::nullopt : std::optional{value->second};
}

}  // namespace autopack
