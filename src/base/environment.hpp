#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack {

/// The variables of the process. Code receives them as a parameter, so that a test can pass its
/// own.
class Environment {
public:
  /// Returns the variables of this process.
  static Environment of_process();

  Environment() = default;

  explicit Environment(std::map<std::string, std::string, std::less<>> variables)
      : variables_{std::move(variables)} {}

  /// Returns nothing if the variable is unset or empty.
  std::optional<std::string> get(std::string_view name) const;

  const std::map<std::string, std::string, std::less<>>& all() const { return variables_; }

  /// Returns `HOME`, else the home directory in the user database.
  std::filesystem::path home() const;
  /// Returns `XDG_CACHE_HOME/autopack`, else `~/.cache/autopack`.
  std::filesystem::path cache_directory() const;
  /// Returns `CLOUDSDK_CONFIG`, else `~/.config/gcloud`.
  std::filesystem::path gcloud_directory() const;
  /// Returns `DOCKER_CONFIG`, else `~/.docker`.
  std::filesystem::path docker_directory() const;

private:
  std::map<std::string, std::string, std::less<>> variables_;
};

}  // namespace autopack
