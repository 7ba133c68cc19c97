#include "project/package/project_fields.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace autopack::project {

void leave_to_build(const std::string& reason) {
  throw Error(ErrorKind::project, reason);
}

std::string line_of(const toml::node& node, std::string_view key) {
  const auto text = node.value<std::string>();
  if (!node.is_string() || printable(*text) != *text || trim(*text) != *text) {
    leave_to_build(fmt::format("`project.{}` is not plain text", key));
  }
  return *text;
}

std::vector<std::string> lines_of(const toml::node& node, std::string_view key) {
  const auto* const array = node.as_array();
  if (array == nullptr) {
    leave_to_build(fmt::format("`project.{}` is not an array", key));
  }
  std::vector<std::string> lines;
  for (const auto& item : *array) {
    lines.push_back(line_of(item, key));
  }
  return lines;
}

const toml::table& table_of(const toml::node& node, std::string_view key) {
  const auto* const table = node.as_table();
  if (table == nullptr) {
    leave_to_build(fmt::format("`project.{}` is not a table", key));
  }
  return *table;
}

}  // namespace autopack::project
