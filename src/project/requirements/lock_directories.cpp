#include "base/json.hpp"
#include "base/tree_path.hpp"
#include "project/requirements/locks.hpp"
#include "project/toml.hpp"
#include "python/archive_name.hpp"

#include <algorithm>
#include <optional>

namespace autopack::project {

namespace {

constexpr std::size_t largest_lock{std::size_t{32} << 20U};

/// Returns `path` unless its name is an archive's; then it is a directory.
std::optional<std::string> unless_archive(std::optional<std::string> path) {
  return path && python::is_archive_name(path->substr(path->rfind('/') + 1)) ? std::nullopt
                                                                             : std::move(path);
}

/// Returns the directory from which a package of `format` is built, as in the lock.
std::optional<std::string> directory_of(LockFormat format, const toml::table& package) {
  const auto& source = package["source"];
  switch (format) {
    case LockFormat::pylock: return package["directory"]["path"].value<std::string>();
    case LockFormat::uv:
      return source["directory"] ? source["directory"].value<std::string>()
                                 : source["editable"].value<std::string>();
    case LockFormat::poetry:
      return source["type"].value<std::string>() == "directory" ? source["url"].value<std::string>()
                                                                : std::nullopt;
    case LockFormat::pdm: return unless_archive(package["path"].value<std::string>());
    case LockFormat::pipfile: break;
  }
  return std::nullopt;
}

std::vector<std::string> directories_in_toml(LockFormat format, std::string_view text) {
  std::vector<std::string> found;
  try {
    const auto document = parse_toml(text, largest_lock);
    const auto* const packages =
        document[format == LockFormat::pylock ? "packages" : "package"].as_array();
    for (std::size_t i = 0; packages != nullptr && i < packages->size(); ++i) {
      const auto* const package = packages->get(i)->as_table();
      if (auto path = package == nullptr ? std::nullopt : directory_of(format, *package)) {
        found.push_back(std::move(*path));
      }
    }
  } catch (const toml::parse_error&) {
    return {};
  }
  return found;
}

std::vector<std::string> directories_in_pipfile(std::string_view text) {
  std::vector<std::string> found;
  const auto document = parse_json(text);
  for (const auto& group : document.is_object() ? document : nlohmann::json::object()) {
    for (const auto& package : group.is_object() ? group : nlohmann::json::object()) {
      if (package.is_object() && !package.contains("git")) {
        if (auto path =
                unless_archive(text_at(package, package.contains("file") ? "file" : "path"))) {
          found.push_back(std::move(*path));
        }
      }
    }
  }
  return found;
}

}  // namespace

std::vector<std::string> directories_in_lock(const std::string& file, std::string_view text) {
  const auto format = lock_format(file);
  if (!format) {
    return {};
  }
  const auto written = *format == LockFormat::pipfile ? directories_in_pipfile(text)
                                                      : directories_in_toml(*format, text);
  std::vector<std::string> directories;
  for (const auto& path : written) {
    const auto place = path.starts_with('/') || path.find("://") != std::string::npos
                           ? std::nullopt
                           : source::normalise(join_path(parent_path(file), path));
    if (!path.empty() && place && !place->empty() && *place != parent_path(file)) {
      directories.push_back(*place);
    }
  }
  sort_unique(directories);
  return directories;
}

}  // namespace autopack::project
