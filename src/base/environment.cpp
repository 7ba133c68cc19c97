#include "base/environment.hpp"

#include <pwd.h>
#include <unistd.h>

namespace autopack {

namespace fs = std::filesystem;

Environment Environment::of_process() {
  std::map<std::string, std::string, std::less<>> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) {
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return Environment{std::move(variables)};
}

std::optional<std::string> Environment::get(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end() || found->second.empty()) {
    return std::nullopt;
  }
  return found->second;
}

fs::path Environment::home() const {
  if (const auto home = get("HOME")) {
    return *home;
  }
  const passwd* user = getpwuid(getuid());
  return user != nullptr ? fs::path{user->pw_dir} : fs::path{"/"};
}

fs::path Environment::cache_directory() const {
  if (const auto cache = get("XDG_CACHE_HOME")) {
    return fs::path{*cache} / "autopack";
  }
  return home() / ".cache" / "autopack";
}

fs::path Environment::gcloud_directory() const {
  if (const auto directory = get("CLOUDSDK_CONFIG")) {
    return *directory;
  }
  return home() / ".config" / "gcloud";
}

fs::path Environment::docker_directory() const {
  if (const auto directory = get("DOCKER_CONFIG")) {
    return *directory;
  }
  return home() / ".docker";
}

}  // namespace autopack
