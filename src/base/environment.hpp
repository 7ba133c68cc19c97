#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack {

/// The variables of the process, passed on instead of read in place so that a test can give its
/// own.
class Environment {
public:
  /// The variables of this process.
  static Environment of_process();

  Environment() = default;

  explicit Environment(std::map<std::string, std::string, std::less<>> variables)
      : variables_{std::move(variables)} {}

  /// None when the variable is unset or empty.
  std::optional<std::string> get(std::string_view name) const;

  const std::map<std::string, std::string, std::less<>>& all() const { return variables_; }

  /// `HOME`, else the home directory of the user database.
  std::filesystem::path home() const;
  /// `XDG_CACHE_HOME/autopack`, else `~/.cache/autopack`.
  std::filesystem::path cache_directory() const;
  /// `CLOUDSDK_CONFIG`, else `~/.config/gcloud`.
  std::filesystem::path gcloud_directory() const;
  /// `DOCKER_CONFIG`, else `~/.docker`.
  std::filesystem::path docker_directory() const;

private:
  std::map<std::string, std::string, std::less<>> variables_;
};

}  // namespace autopack
