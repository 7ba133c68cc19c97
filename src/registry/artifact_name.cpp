#include "registry/artifact_name.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace autopack::registry {

namespace {

struct LegacyHost {
  std::string_view host;
  std::string_view location;
};

constexpr std::array legacy_hosts{LegacyHost{"gcr.io", "us"}, LegacyHost{"us.gcr.io", "us"},
                                  LegacyHost{"eu.gcr.io", "europe"},
                                  LegacyHost{"asia.gcr.io", "asia"}};

constexpr std::string_view suffix = "-docker.pkg.dev";

std::optional<std::string> rest_of(const std::vector<std::string>& parts, std::size_t from) {
  if (parts.size() <= from) {
    return std::nullopt;
  }
  return non_empty(join(std::span{parts}.subspan(from), "/"));
}

}  // namespace

std::string ArtifactName::resource() const {
  return fmt::format("projects/{}/locations/{}/repositories/{}", project, location, repository);
}

std::optional<ArtifactName> parse_artifact_name(const std::string& host, const std::string& path) {
  ArtifactName name;
  const auto* const legacy = std::ranges::find_if(
      legacy_hosts, [&](const LegacyHost& candidate) { return candidate.host == host; });
  if (legacy != legacy_hosts.end()) {
    name.location = legacy->location;
    name.repository = host;
  } else if (host.ends_with(suffix)) {
    name.location = host.substr(0, host.size() - suffix.size());
  } else if (host.starts_with("docker.") && host.ends_with(".rep.pkg.dev")) {
    name.location = split(host, '.').at(1);
  } else {
    return std::nullopt;
  }
  auto parts = split(path, '/');
  if (parts.at(0).find('.') != std::string::npos && parts.size() > 1) {
    parts[0] += ":" + parts[1];  // a domain's project has two components in the path
    parts.erase(parts.begin() + 1);
  }
  name.project = parts[0];
  if (!name.repository.empty()) {
    name.image = rest_of(parts, 1);
    return name;
  }
  name.repository = parts.size() > 1 ? parts[1] : "";
  name.image = rest_of(parts, 2);
  return name;
}

}  // namespace autopack::registry
