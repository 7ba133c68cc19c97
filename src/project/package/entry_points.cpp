#include "project/package/entry_points.hpp"

#include "base/text.hpp"
#include "project/package/project_fields.hpp"

#include <fmt/format.h>

namespace autopack::project {

namespace {

/// Returns one group with its heading; empty without entries.
std::string group_text(std::string_view group, const toml::table& entries, bool is_program) {
  std::string lines;
  for (const auto& [name, value] : entries) {
    const auto object = line_of(value, "entry-points");
    // Only on these do pip and Python agree.
    const bool is_plain = is_alphanumeric(name.str(), is_program ? "-_." : "-_. ") &&
                          is_alphanumeric(object, "_.:") && !name.empty() && !object.empty() &&
                          (!is_program || object.find(':') != std::string::npos);
    if (!is_plain || trim(name.str()) != name.str()) {
      leave_to_build(fmt::format("the entry point `{}` is not plain", printable(name.str())));
    }
    lines += fmt::format("{} = {}\n", name.str(), object);
  }
  return lines.empty() ? "" : fmt::format("[{}]\n{}", group, lines);
}

}  // namespace

std::optional<std::string> entry_points_text(const toml::table& project) {
  std::string text;
  const auto add = [&](std::string_view group, const toml::table& entries, bool is_program) {
    const auto more = group_text(group, entries, is_program);
    text += text.empty() || more.empty() ? more : "\n" + more;
  };
  if (const auto* const node = project.get("scripts"); node != nullptr) {
    add("console_scripts", table_of(*node, "scripts"), true);
  }
  if (const auto* const node = project.get("gui-scripts"); node != nullptr) {
    add("gui_scripts", table_of(*node, "gui-scripts"), true);
  }
  const auto* const node = project.get("entry-points");
  if (node == nullptr) {
    return non_empty(std::move(text));
  }
  for (const auto& [group, entries] : table_of(*node, "entry-points")) {
    if (group == "console_scripts" || group == "gui_scripts" ||
        !is_alphanumeric(group.str(), "-_.")) {
      leave_to_build("`project.entry-points` has a group that is none");
    }
    add(group.str(), table_of(entries, "entry-points"), false);
  }
  return non_empty(std::move(text));
}

}  // namespace autopack::project
