#include "lock/judge.hpp"

#include "base/text.hpp"
#include "lock/document.hpp"
#include "python/name.hpp"
#include "python/specifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace autopack::lock {

namespace {

constexpr std::uint64_t latest_patch{99};

}  // namespace

Judge::Judge(const Target& target, std::vector<std::string> extras, std::vector<std::string> groups)
    : version_{target.interpreter.version},
      environment_{python::marker_environment(target.interpreter)} {
  environment_.extras = std::move(extras);
  environment_.dependency_groups = std::move(groups);
}

bool Judge::holds(std::optional<std::string_view> marker, const std::string& place) const {
  if (!marker || trim(*marker).empty()) {
    return true;
  }
  const auto parsed = python::Marker::parse(*marker);
  if (!parsed) {
    refuse(fmt::format("`{}` is not a marker", printable(*marker)), place);
  }
  const auto answer = parsed->holds_in(environment_);
  if (!answer) {
    refuse(
        fmt::format("`{}` cannot be evaluated for the executor image's Python", printable(*marker)),
        place);
  }
  return *answer;
}

bool Judge::any_holds(const std::vector<std::string>& markers, const std::string& place) const {
  return markers.empty() ||
         std::ranges::any_of(markers, [&](const auto& marker) { return holds(marker, place); });
}

bool Judge::is_python(std::optional<std::string_view> versions, const std::string& place) const {
  if (!versions) {
    return true;
  }
  const auto alternatives = python::parse_poetry_constraint(*versions);
  auto set = python::SpecifierSet::parse(*versions);
  if (!set && !alternatives) {
    refuse(fmt::format("`{}` is not a condition on Python versions", printable(*versions)), place);
  }
  std::vector<python::Version> candidates{version_};
  // For a version such as `3.11`, the patch is unknown.
  if (version_.release.size() == 2) {
    candidates.push_back(version_);
    candidates.back().release.push_back(latest_patch);
  }
  const auto all = set ? std::vector{std::move(*set)} : *alternatives;
  return std::ranges::any_of(all, [&](const auto& one) {
    return std::ranges::any_of(candidates, [&](const auto& version) {
      return one.contains(version, python::Prereleases::allowed);
    });
  });
}

void Judge::require_python(std::optional<std::string_view> versions,
                           const std::string& what,
                           const std::string& place) const {
  if (!is_python(versions, place)) {
    refuse(fmt::format("{} is for Python `{}`, but the executor image has {}", what,
                       printable(*versions), version_.str()),
           place, {"use an executor image with such a Python, or make a lock for this one"});
  }
}

void require_known(const std::vector<std::string>& asked,
                   const std::vector<std::string>& known,
                   const std::string& what,
                   const std::string& file) {
  for (const auto& name : asked) {
    const bool there = std::ranges::any_of(
        known, [&](const auto& one) { return python::normalise_name(one) == name; });
    if (there) {
      continue;
    }
    Error error(ErrorKind::usage, fmt::format("`{}` has no {} `{}`", file, what, printable(name)));
    if (const auto near = nearest(name, known)) {
      error.hint(fmt::format("did you mean `{}`?", *near));
    } else if (!known.empty()) {
      error.hint(fmt::format("it has `{}`", join(known, "`, `")));
    }
    throw std::move(error);
  }
}

}  // namespace autopack::lock
