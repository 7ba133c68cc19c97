#include "project/requirements/named_pythons.hpp"

#include "base/text.hpp"
#include "project/requirements/conda_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace autopack::project {

namespace {

/// In bytes; a larger file is something else.
constexpr std::uint64_t largest_version_file{10'000};

std::string read_version_file(const Findings& findings, const char* name) {
  const Place place = findings.follow(name);
  return place.is_file() && place.entry.size <= largest_version_file
             ? findings.tree().read(place.entry.path)
             : std::string{};
}

std::optional<python::SpecifierSet> any_release_of(std::string_view minor) {
  return python::SpecifierSet::parse(fmt::format("=={}.*", minor));
}

/// pyenv uses the first of several lines that it has.
std::optional<RequiresPython> in_python_version(const Findings& findings) {
  RequiresPython named{.origin = ".python-version"};
  std::vector<std::string> versions;
  for (const auto& line : split(read_version_file(findings, ".python-version"), '\n')) {
    const auto minor = minor_python(line);
    if (auto set = minor ? any_release_of(*minor) : std::nullopt) {
      named.alternatives.push_back(*std::move(set));
      versions.push_back(*minor);
    }
  }
  named.text = join(versions, " or ");
  return versions.empty() ? std::nullopt : std::optional{std::move(named)};
}

std::optional<RequiresPython> in_runtime(const Findings& findings) {
  auto text = std::string{trim(read_version_file(findings, "runtime.txt"))};
  const std::string_view start{"python-"};
  const auto minor =
      text.starts_with(start) ? minor_python(text.substr(start.size())) : std::nullopt;
  auto set = minor ? any_release_of(*minor) : std::nullopt;
  return set ? std::optional{RequiresPython{
                   .text = *minor, .origin = "runtime.txt", .alternatives = {*std::move(set)}}}
             : std::nullopt;
}

/// Parses `=3.8.5=build`, `==3.8`, `3.8.*` as one version; other text as pip's conditions.
std::optional<python::SpecifierSet> conda_versions(std::string text) {
  std::erase(text, ' ');
  const auto begin = text.find_first_not_of('=');
  const bool is_one = begin != std::string::npos && text[begin] >= '0' && text[begin] <= '9' &&
                      text.find_first_of("<>!~|,") == std::string::npos;
  if (!is_one) {
    return python::SpecifierSet::parse(text);
  }
  const auto minor = minor_python(std::string_view{text}.substr(begin));
  return minor ? any_release_of(*minor) : std::nullopt;
}

std::optional<RequiresPython> in_conda_environment(const Findings& findings) {
  const auto file = find_conda_environment(findings);
  if (!file) {
    return std::nullopt;
  }
  const auto text =
      read_conda_environment(findings.tree().read(findings.follow(*file).entry.path)).python;
  auto set = conda_versions(text);
  return set && !set->all().empty()
             ? std::optional{RequiresPython{
                   .text = text, .origin = *file, .alternatives = {*std::move(set)}}}
             : std::nullopt;
}

}  // namespace

std::optional<std::string> minor_python(std::string_view text) {
  const auto parts = split(trim(text.substr(0, std::min(text.find('\n'), text.size()))), '.');
  const auto number = [](std::string_view part) {
    const auto end = part.find_first_not_of("0123456789");
    return std::string{part.substr(0, end)};
  };
  if (parts.size() < 2 || parts[0] != "3" || number(parts[1]).empty()) {
    return std::nullopt;
  }
  return "3." + number(parts[1]);
}

std::vector<RequiresPython> read_named_pythons(const Findings& findings) {
  std::vector<RequiresPython> named;
  for (const auto reader : {in_python_version, in_runtime, in_conda_environment}) {
    if (auto found = reader(findings)) {
      named.push_back(*std::move(found));
    }
  }
  return named;
}

}  // namespace autopack::project
