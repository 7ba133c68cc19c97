#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/package/version_control.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace autopack::project {

namespace {

using Node = toml::node_view<const toml::node>;

const std::string pyproject{"pyproject.toml"};

struct NamedScheme {
  std::string_view name{};
  VersionScheme scheme{};
};

constexpr std::array<NamedScheme, 5> scm_schemes{{
    {"guess-next-dev", VersionScheme::next_dev},
    {"no-guess-dev", VersionScheme::post_dev},
    {"post-release", VersionScheme::post},
    {"python-simplified-semver", VersionScheme::semantic_dev},
    {"only-version", VersionScheme::tag},
}};

std::vector<std::string> words_of(Node value) {
  std::vector<std::string> words;
  if (const auto text = value.value<std::string>()) {
    words = split(*text, ' ');
  } else if (const auto* const array = value.as_array()) {
    for (const auto& item : *array) {
      words.push_back(item.value_or(std::string{}));
    }
  }
  std::erase(words, "");
  return words;
}

void read_regexp(Node value, const std::string& name, VersionControl& tool) {
  const auto text = value.value<std::string>();
  if (!text || text->empty()) {
    return;
  }
  if (auto pattern = TagPattern::from_regexp(*text)) {
    tool.pattern = std::move(*pattern);
  } else {
    tool.not_followed.push_back(name);
  }
}

/// Parses `git describe --dirty --tags --long --match *[0-9]*`, as a text or a list.
void read_describe_command(Node value, const std::string& name, VersionControl& tool) {
  const auto words = words_of(value);
  if (words.empty()) {
    return;
  }
  source::GitTagQuery tags;
  bool followed = words.size() > 1 && words[0] == "git" && words[1] == "describe";
  bool lightweight = false;
  constexpr std::array<std::string_view, 3> without_effect{"--dirty", "--long", "--always"};
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::string& word = words[i];
    constexpr std::string_view match{"--match"};
    if (word == match && i + 1 < words.size()) {
      tags.match = words[++i];
    } else if (word.starts_with("--match=")) {
      tags.match = word.substr(match.size() + 1);
    } else if (word == "--first-parent") {
      tags.first_parent = true;
    } else if (word == "--tags") {
      lightweight = true;
    } else if (!contains(without_effect, word) && !word.starts_with("--abbrev=")) {
      followed = false;
    }
  }
  for (const char quote : {'\'', '"'}) {
    std::erase(tags.match, quote);
  }
  if (followed && lightweight) {
    tool.tags = std::move(tags);
  } else {
    tool.not_followed.push_back(name);
  }
}

/// Reads the table of setuptools-scm, which hatch-vcs passes on as `raw-options`.
void read_scm_table(Node table, VersionControl& tool) {
  read_regexp(table["tag_regex"], "tag_regex", tool);
  for (const Node& value :
       {table["git_describe_command"], table["scm"]["git"]["describe_command"]}) {
    read_describe_command(value, "git_describe_command", tool);
  }
  if (const auto name = table["version_scheme"].value<std::string>()) {
    const auto* const known = std::ranges::find_if(
        scm_schemes, [&](const NamedScheme& scheme) { return scheme.name == *name; });
    if (known != scm_schemes.end()) {
      tool.scheme = known->scheme;
    } else {
      tool.not_followed.push_back("version_scheme");
    }
  }
  if (table["parse"]) {
    tool.not_followed.emplace_back("parse");
  }
  if (auto fallback = table["fallback_version"].value<std::string>()) {
    tool.fallback = std::move(fallback);
  }
}

VersionControl read_hatch_vcs(Node table) {
  auto tool = setuptools_scm(pyproject + " tool.hatch.version");
  tool.tool = "hatch-vcs";
  read_regexp(table["tag-pattern"], "tag-pattern", tool);
  read_scm_table(table["raw-options"], tool);
  if (auto fallback = table["fallback-version"].value<std::string>()) {
    tool.fallback = std::move(fallback);
  }
  return tool;
}

VersionControl read_pdm(Node table) {
  VersionControl tool{.tool = "pdm",
                      .origin = pyproject + " tool.pdm.version",
                      .variable = "PDM_BUILD_SCM_VERSION",
                      .tags = {.match = table["tag_filter"].value_or(std::string{"*.*"})},
                      .counts_changes = false,
                      .fallback = table["fallback_version"].value<std::string>()};
  read_regexp(table["tag_regex"], "tag_regex", tool);
  if (table["version_format"]) {
    tool.not_followed.emplace_back("version_format");
  }
  return tool;
}

/// Reads versioningit's format for versions between tags: by default
/// `{base_version}.post{distance}+{vcs}{rev}`.
void read_versioningit_format(Node table, VersionControl& tool) {
  const auto text = table["format"]["distance"].value_or(std::string{"{version}.post{distance}"});
  const std::string shape = text.substr(0, text.find('+'));
  const auto method = table["next-version"]["method"].value_or(
      table["next-version"].value_or(std::string{"minor"}));
  if (shape == "{version}.post{distance}" || shape == "{base_version}.post{distance}") {
    tool.scheme = VersionScheme::post;
  } else if (shape == "{next_version}.dev{distance}" && method == "minor") {
    tool.scheme = VersionScheme::next_minor_dev;
  } else if (shape == "{next_version}.dev{distance}" && method == "smallest") {
    tool.scheme = VersionScheme::next_dev;
  } else {
    tool.not_followed.emplace_back("format");
  }
}

VersionControl read_versioningit(Node table) {
  VersionControl tool{.tool = "versioningit",
                      .origin = pyproject + " tool.versioningit",
                      .tags = {.match = "*"},
                      .counts_changes = false,
                      .fallback = table["default-version"].value<std::string>()};
  const auto patterns = words_of(table["vcs"]["match"]);
  if (!patterns.empty()) {
    tool.tags.match = patterns.front();
  }
  if (patterns.size() > 1 || table["vcs"]["exclude"]) {
    tool.not_followed.emplace_back("vcs");
  }
  if (auto tag = table["vcs"]["default-tag"].value<std::string>()) {
    tool.untagged = std::move(*tag);
  }
  const auto reading = table["tag2version"];
  if (auto prefix = reading["rmprefix"].value<std::string>()) {
    tool.pattern = TagPattern::after(std::move(*prefix));
  }
  read_regexp(reading["regex"], "regex", tool);
  read_versioningit_format(table, tool);
  return tool;
}

/// Reads settings of dunamai, which two plugins have.
VersionControl read_dunamai(Node table, std::string name, std::string variable, bool prefixed) {
  VersionControl tool{.tool = name,
                      .origin = pyproject + " tool." + name,
                      .variable = std::move(variable),
                      .tags = {.match = prefixed ? "v[0-9]*" : "*[0-9]*"},
                      .scheme = table["bump"].value_or(false) ? VersionScheme::next_dev
                                                              : VersionScheme::post_zero_dev,
                      .counts_changes = false,
                      .untagged = "0.0.0"};
  const auto pattern = table["pattern"].value_or(std::string{"default"});
  if (pattern == "default-unprefixed") {
    tool.tags.match = "*[0-9]*";
  } else if (pattern != "default") {
    tool.tags.match = "*[0-9]*";
    // dunamai's name for the group of the version
    const std::string group{"(?P<version>"};
    const auto text = replace_all(pattern, "(?P<base>", group);
    if (auto known = TagPattern::from_regexp(text)) {
      tool.pattern = std::move(*known);
    } else {
      tool.not_followed.emplace_back("pattern");
    }
  }
  for (const char* const key : {"format", "format-jinja", "style", "tag-branch", "latest-tag"}) {
    if (table[key]) {
      tool.not_followed.emplace_back(key);
    }
  }
  if (auto fallback = table["fallback-version"].value<std::string>()) {
    tool.fallback = std::move(fallback);
  }
  return tool;
}

}  // namespace

VersionControl setuptools_scm(std::string origin) {
  return {
      .tool = "setuptools-scm", .origin = std::move(origin), .variable = std::string{scm_variable}};
}

VersionControl pbr(std::string origin) {
  return {.tool = "pbr",
          .origin = std::move(origin),
          .variable = "PBR_VERSION",
          .counts_changes = false,
          .untagged = "0.0.0"};
}

std::optional<VersionControl> version_control_in(const toml::table& document) {
  const auto tools = document["tool"];
  const auto hatch = tools["hatch"]["version"];
  const auto hatch_source = hatch["source"].value_or(std::string{});
  const auto pdm = tools["pdm"]["version"];
  if (const auto table = tools["setuptools_scm"]) {
    auto tool = setuptools_scm(pyproject + " tool.setuptools_scm");
    read_scm_table(table, tool);
    return tool;
  }
  if (hatch_source == "vcs") {
    return read_hatch_vcs(hatch);
  }
  if (hatch_source == "uv-dynamic-versioning") {
    return read_dunamai(tools["uv-dynamic-versioning"], "uv-dynamic-versioning",
                        "UV_DYNAMIC_VERSIONING_BYPASS", false);
  }
  if (const auto table = tools["versioningit"]) {
    return read_versioningit(table);
  }
  if (pdm["source"].value_or(std::string{}) == "scm" || pdm["use_scm"].value_or(false)) {
    return read_pdm(pdm);
  }
  if (const auto table = tools["poetry-dynamic-versioning"]; table["enable"].value_or(false)) {
    return read_dunamai(table, "poetry-dynamic-versioning", "POETRY_DYNAMIC_VERSIONING_BYPASS",
                        true);
  }
  return std::nullopt;
}

}  // namespace autopack::project
