#include "project/requirements/named_pythons.hpp"

#include "base/ini.hpp"
#include "base/text.hpp"
#include "project/code/python_tokens.hpp"
#include "project/requirements/conda_environment.hpp"
#include "project/toml.hpp"

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

namespace {

std::string read(const Findings& findings, std::string_view name) {
  const Place place = findings.follow(name);
  return place.is_file() ? findings.tree().read(place.entry.path) : std::string{};
}

/// Returns nothing if `text` is not a list of conditions: an index would accept it, but nothing
/// else.
std::optional<RequiresPython> conditions(const std::string& text, std::string origin) {
  auto set = python::SpecifierSet::parse(text);
  if (!set || set->all().empty()) {
    return std::nullopt;
  }
  return RequiresPython{.text = text, .origin = std::move(origin), .alternatives = {*set}};
}

std::optional<RequiresPython> in_pyproject(const Findings& findings) {
  toml::table document;
  try {
    document = parse_toml(read(findings, "pyproject.toml"));
  } catch (const toml::parse_error&) {
    return std::nullopt;  // reported by the reader of the package
  }
  if (const auto text = document["project"]["requires-python"].value<std::string>()) {
    return conditions(*text, "pyproject.toml: [project] requires-python");
  }
  const auto text = document["tool"]["poetry"]["dependencies"]["python"].value<std::string>();
  auto alternatives = text ? python::parse_poetry_constraint(*text) : std::nullopt;
  if (!alternatives) {
    return std::nullopt;
  }
  return RequiresPython{.text = *text,
                        .origin = "pyproject.toml: [tool.poetry.dependencies] python",
                        .alternatives = std::move(*alternatives)};
}

std::optional<RequiresPython> in_setup_cfg(const Findings& findings) {
  const auto ini = parse_ini(read(findings, "setup.cfg"));
  for (const auto* name : {"python_requires", "python-requires"}) {
    if (const auto text = find_option(ini, "options", name)) {
      return conditions(*text, "setup.cfg: [options] python_requires");
    }
  }
  return std::nullopt;
}

/// Reads a literal `python_requires=`; computed ones are unknown.
std::optional<RequiresPython> in_setup_py(const Findings& findings) {
  const auto tokens = tokenize_python(read(findings, "setup.py"));
  for (std::size_t i = 0; i + 3 < tokens.size(); ++i) {
    const Token& value = tokens[i + 2];
    if (tokens[i].is_name("python_requires") && tokens[i + 1].is("=") &&
        value.kind == Token::Kind::string && !value.computed &&
        (tokens[i + 3].is(",") || tokens[i + 3].is(")"))) {
      return conditions(value.text, "setup.py: python_requires");
    }
  }
  return std::nullopt;
}

}  // namespace

bool RequiresPython::allows(const python::Version& version) const {
  return std::ranges::any_of(alternatives, [&](const auto& one) {
    return one.contains(version, python::Prereleases::allowed);
  });
}

std::optional<RequiresPython> read_requires_python(const Findings& findings) {
  for (const auto reader : {in_pyproject, in_setup_cfg, in_setup_py}) {
    if (auto found = reader(findings)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace autopack::project
