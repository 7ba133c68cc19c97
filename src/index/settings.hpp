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

/// A URL, or for a local place a path, with its login taken out.
struct Location {
  std::string url{};
  std::optional<std::string> user{};  ///< none: the URL names nobody
  std::optional<Secret> password{};

  static Location parse(std::string_view text);
};

/// Where packages are looked for, and how: pip's options of the same names.
struct IndexSettings {
  std::vector<Location> indexes{};  ///< index-url, then each extra-index-url; all are equal
  std::vector<Location> find_links{};
  bool no_index{false};
  std::vector<std::string> trusted_hosts{};                   ///< `HOST` or `HOST:PORT`, lower case
  std::optional<std::filesystem::path> certificates{};        ///< authorities; none: the system's
  std::optional<std::filesystem::path> client_certificate{};  ///< with its key
  std::optional<Secret> proxy{};
  std::chrono::seconds timeout{15};  ///< to connect, and without a byte
  int retries{5};
  std::optional<Secret> netrc{};  ///< the text of the file
};

/// What pip on this machine would use. `default_index` stands in where no index-url is set. Throws
/// Error(environment) for a file that cannot be read, Error(usage) for a value that pip refuses.
IndexSettings find_index_settings(const Environment& environment,
                                  const std::optional<std::string>& default_index,
                                  const std::filesystem::path& system = "/etc");

/// Adds the options of one line of a requirements file in `directory` (see
/// project::RequirementLine), as pip does: an index-url takes the place of all indexes so far.
/// `${NAME}` is a variable of `environment`. What does not belong here is passed over.
void add_line_options(IndexSettings& settings,
                      const std::vector<std::pair<std::string, std::string>>& options,
                      const std::filesystem::path& directory,
                      const Environment& environment);

}  // namespace autopack::index
