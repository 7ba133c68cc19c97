#include "project/package/version_control.hpp"

#include "base/text.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <utility>

namespace autopack::project {

namespace {

/// The version for a build without a repository.
constexpr const char* unknown_version{"0.0.0"};

/// Returns the user's own version, from the variables that the tool reads.
std::optional<std::string> version_of_user(const VersionSources& sources,
                                           const VersionControl& tool,
                                           const std::optional<std::string>& name) {
  if (!sources.variable || !tool.variable) {
    return std::nullopt;
  }
  if (tool.variable == scm_variable && name) {
    const auto ending = replace_all(to_upper(python::normalise_name(*name)), "-", "_");
    if (auto version = sources.variable(fmt::format("{}_FOR_{}", scm_variable, ending))) {
      return version;
    }
  }
  return sources.variable(*tool.variable);
}

std::vector<std::string> hints(const VersionControl& tool) {
  return tool.variable
             ? std::vector{fmt::format("`--build-env={}=VERSION` says another", *tool.variable)}
             : std::vector<std::string>{};
}

/// Returns git's description; reports it and returns nothing if there is none.
std::optional<source::GitDescription> describe(Findings& findings,
                                               const VersionSources& sources,
                                               const VersionControl& tool) {
  try {
    return sources.describe ? sources.describe(tool.tags) : std::nullopt;
  } catch (const Error& error) {
    findings.warn(
        fmt::format("git does not tell which tag the version of the package comes from: {}",
                    error.message()),
        tool.origin, error.hints());
    return std::nullopt;
  }
}

std::string version_of_repository(Findings& findings,
                                  const VersionSources& sources,
                                  const VersionControl& tool) {
  const auto description = describe(findings, sources, tool);
  if (!description) {
    if (!tool.fallback) {
      findings.warn(fmt::format("the version of the package comes from git's tags, and there is no "
                                "repository: in the image it is `{}`",
                                unknown_version),
                    tool.origin, hints(tool));
    }
    return tool.fallback.value_or(unknown_version);
  }
  const auto version = version_from(tool, *description);
  if (!version) {
    findings.warn(
        fmt::format("git's tag `{}` says no version of the package: in the image it is `{}`",
                    printable(description->tag.value_or("")), unknown_version),
        tool.origin, hints(tool));
    return unknown_version;
  }
  if (!description->tag) {
    auto advice = hints(tool);
    if (description->shallow) {
      advice.emplace_back("the clone is shallow: `git fetch --unshallow --tags` brings the rest");
    }
    findings.warn(fmt::format("the version of the package comes from git's tags, and there is none "
                              "before this commit: in the image it is `{}`",
                              version->str()),
                  tool.origin, std::move(advice));
  }
  return version->str();
}

}  // namespace

void pin_version(Findings& findings, const VersionSources& sources, Package& package) {
  const auto& tool = *package.version_control;
  package.version = version_of_user(sources, tool, package.name);
  if (!package.version) {
    package.version = version_of_repository(findings, sources, tool);
    if (!tool.not_followed.empty()) {
      findings.warn(fmt::format("only {} itself can follow `{}`: in the image the version of the "
                                "package is `{}`",
                                tool.tool, printable(join(tool.not_followed, "`, `")),
                                printable(*package.version)),
                    tool.origin, hints(tool));
    }
  }
  if (tool.variable) {
    package.build_environment[*tool.variable] = *package.version;
  }
}

}  // namespace autopack::project
