#include "plan/pinned.hpp"

#include "plan/keys.hpp"

#include <algorithm>

namespace autopack::plan {

namespace {

constexpr std::size_t commit_digits{40};

/// Matches `git+https://host/x@<commit>`, `https://host/x.whl#sha256=...`.
bool is_pinned_url(std::string_view url) {
  if (url.find("#sha256=") != std::string_view::npos) {
    return true;
  }
  const auto at = url.rfind('@');
  const auto commit = url.substr(at == std::string_view::npos ? url.size() : at + 1, commit_digits);
  return commit.size() == commit_digits &&
         commit.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

bool is_pinned(const std::string& line) {
  if (line.starts_with("--") || line.starts_with("-c ") ||
      line.find(" --hash=") != std::string::npos) {
    return true;
  }
  const std::string text = line.substr(0, line.find(';'));
  if (text.find("://") != std::string::npos) {
    return is_pinned_url(text);
  }
  if (text.find('/') != std::string::npos) {
    return true;  // its content is in the key
  }
  return text.find("==") != std::string::npos && text.find_first_of("*,") == std::string::npos;
}

bool has_unpinned(const Plan& plan, const project::Project& project) {
  const Dependencies& dependencies = plan.dependencies;
  const auto& lines = project.normalised_requirements;
  const auto& asked = dependencies.requirements;
  return !dependencies.apt_packages.empty() || dependencies.install ||
         !std::ranges::all_of(lines, is_pinned) ||
         !std::ranges::all_of(asked,
                              [](const std::string& text) { return is_pinned(normalised(text)); });
}

}  // namespace autopack::plan
