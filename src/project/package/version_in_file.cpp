#include "project/package/version_in_file.hpp"

#include "base/text.hpp"
#include "source/tree.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace autopack::project {

namespace {

constexpr std::size_t largest_source{1'000'000};

/// Returns the rest of `line` after `name` and an equals sign with blanks around it; nothing for
/// other lines.
std::optional<std::string_view> value_behind(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) {
    return std::nullopt;
  }
  const auto rest = trim(line.substr(name.size()));
  return rest.starts_with('=') ? std::optional{trim(rest.substr(1))} : std::nullopt;
}

/// Returns the literal string of `value`, followed at most by a comment.
std::optional<std::string> plain_string(std::string_view value) {
  const char quote = value.empty() ? '\0' : value.front();
  const auto end = quote == '"' || quote == '\'' ? value.find(quote, 1) : std::string_view::npos;
  if (end == std::string_view::npos || end == 1) {
    return std::nullopt;
  }
  const auto text = value.substr(1, end - 1);
  const auto rest = trim(value.substr(end + 1));
  const bool is_plain = text.find_first_of("\"'\\") == std::string_view::npos &&
                        (rest.empty() || rest.starts_with('#'));
  return is_plain ? std::optional{std::string{text}} : std::nullopt;
}

/// Returns true if `table` has exactly the keys `keys`.
bool has_only(const toml::table* table, const std::vector<std::string_view>& keys) {
  return table != nullptr && table->size() == keys.size() &&
         std::ranges::all_of(keys, [&](const auto key) { return table->contains(key); });
}

}  // namespace

std::optional<std::string> version_in_file(const toml::table& document, LookingTree& tree) {
  const auto backend = document["build-system"]["build-backend"].value_or(std::string{});
  const bool is_hatch = backend == "hatchling.build";
  const auto* const settings = document["tool"][is_hatch ? "hatch" : "pdm"]["version"].as_table();
  const bool is_known = is_hatch
                            ? has_only(settings, {"path"})
                            : backend == "pdm.backend" && has_only(settings, {"source", "path"}) &&
                                  (*settings)["source"].value_or(std::string{}) == "file";
  const auto path =
      is_known ? source::normalise((*settings)["path"].value_or(std::string{})) : std::nullopt;
  const auto text = path && !path->empty() ? tree.read(*path, largest_source) : std::nullopt;
  if (!text) {
    return std::nullopt;
  }
  for (const auto& line : split(*text, '\n')) {
    const auto lower = to_lower(line);
    const bool is_other =
        is_hatch && (lower.starts_with("version") ||
                     (lower.starts_with("__version__") && !line.starts_with("__version__")));
    if (is_other) {
      return std::nullopt;  // hatchling's pattern accepts more spellings
    }
    if (line.starts_with("__version__")) {
      const auto value = value_behind(line, "__version__");
      return value ? plain_string(*value) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace autopack::project
