#include "project/requirements/requires_python.hpp"

#include "base/ini.hpp"
#include "project/code/python_tokens.hpp"
#include "project/toml.hpp"

#include <algorithm>

namespace autopack::project {

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
