#pragma once

#include "base/environment.hpp"
#include "base/secret.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::index {

/// A URL (or, for a local place, a path) with its login removed.
struct Location {
  std::string url{};
  std::optional<std::string> user{};  ///< absent: the URL names no user
  std::optional<Secret> password{};

  static Location parse(std::string_view text);
};

/// pip's options of the same names: where to look for packages, and how.
struct IndexSettings {
  /// index-url, then each extra-index-url; all have the same rank
  std::vector<Location> indexes{};
  std::vector<Location> find_links{};
  bool no_index{false};
  std::vector<std::string> trusted_hosts{};             ///< `HOST` or `HOST:PORT`, in lower case
  std::optional<std::filesystem::path> certificates{};  ///< authorities; absent: the system's
  std::optional<std::filesystem::path> client_certificate{};  ///< including its key
  std::optional<Secret> proxy{};
  std::chrono::seconds timeout{15};  ///< for connecting, and for a pause without a byte
  int retries{5};
  std::optional<Secret> netrc{};  ///< contents of the file
};

/// Returns the settings that pip on this machine would use. `default_index` applies if index-url is
/// not set. Throws Error(environment) for a file that cannot be read, Error(usage) for a value that
/// pip refuses.
IndexSettings find_index_settings(const Environment& environment,
                                  const std::optional<std::string>& default_index,
                                  const std::filesystem::path& system = "/etc");

/// Adds the options of one line of a requirements file in `directory` (see
/// project::RequirementLine), as pip does: an index-url replaces all indexes so far. `${NAME}` is a
/// variable of `environment`. Ignores other options.
void add_line_options(IndexSettings& settings,
                      const std::vector<std::pair<std::string, std::string>>& options,
                      const std::filesystem::path& directory,
                      const Environment& environment);

}  // namespace autopack::index
