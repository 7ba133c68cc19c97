#include "project/package/version_control.hpp"

#include "base/text.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace autopack::project {

namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t most_prefixes{64};
constexpr std::size_t longest_expression{1000};

bool is_word_character(char c) {
  return is_alphanumeric({&c, 1}, "_");
}

/// Parses the part of a regular expression before the version, as the texts that it matches.
class PrefixReader {
public:
  explicit PrefixReader(std::string_view expression)
      : rest_{expression},
        version_group_{expression.find("(?P<version>") != std::string_view::npos} {}

  /// Returns nothing if it contains anything except literal text, sets, optional parts and
  /// alternatives.
  std::optional<Texts> read() {
    if (rest_.starts_with('^')) {
      rest_.remove_prefix(1);
    }
    Texts all{""};
    while (!begins_version()) {
      auto part = read_part();
      if (!part || part->size() * all.size() > most_prefixes) {
        return std::nullopt;
      }
      all = joined(all, *part);
    }
    return all;
  }

private:
  static Texts joined(const Texts& before, const Texts& after) {
    Texts all;
    for (const auto& first : before) {
      for (const auto& second : after) {
        all.push_back(first + second);
      }
    }
    return all;
  }

  bool begins_version() const {
    return version_group_ ? rest_.starts_with("(?P<version>")
                          : rest_.starts_with('(') && !rest_.starts_with("(?");
  }

  bool take(std::string_view text) {
    const bool there = rest_.starts_with(text);
    rest_.remove_prefix(there ? text.size() : 0);
    return there;
  }

  /// Reads a character, a set or a group, each with or without `?`.
  std::optional<Texts> read_part() {
    std::optional<Texts> texts;
    if (take("[")) {
      texts = read_set();
    } else if (rest_.starts_with('(')) {
      texts = read_group();
    } else if (const auto character = read_character()) {
      texts = Texts{std::string{*character}};
    }
    if (texts && take("?")) {
      texts->emplace_back();
    }
    return texts;
  }

  std::optional<char> read_character() {
    constexpr std::string_view special{".*+?[](){}|^$\\"};
    const bool escaped = take(R"(\)");
    if (rest_.empty()) {
      return std::nullopt;
    }
    const char character = rest_.front();
    const bool is_literal =
        escaped ? !is_word_character(character) : special.find(character) == std::string_view::npos;
    if (!is_literal) {
      return std::nullopt;
    }
    rest_.remove_prefix(1);
    return character;
  }

  std::optional<Texts> read_set() {
    Texts texts;
    while (!take("]")) {
      const auto character = read_character();
      if (!character || *character == '-') {
        return std::nullopt;
      }
      texts.emplace_back(1, *character);
    }
    return texts;
  }

  /// Reads `(?:...)`, `(?P<name>...)` or `(...)` of literal alternatives.
  std::optional<Texts> read_group() {
    take("(");
    if (take("?P<")) {
      const auto end = rest_.find('>');
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    } else if (!take("?:") && rest_.starts_with('?')) {
      return std::nullopt;
    }
    Texts alternatives;
    std::string text;
    while (!take(")")) {
      if (take("|")) {
        alternatives.push_back(std::exchange(text, ""));
      } else if (const auto character = read_character()) {
        text.push_back(*character);
      } else {
        return std::nullopt;
      }
    }
    alternatives.push_back(std::move(text));
    return alternatives;
  }

  std::string_view rest_;
  bool version_group_;
};

/// Reads a version, without the part that setuptools-scm removes from a tag.
std::optional<python::Version> read_version(std::string_view text) {
  const auto public_part = text.substr(0, text.find('+'));
  const std::string_view digits = public_part.starts_with('v') || public_part.starts_with('V')
                                      ? public_part.substr(1)
                                      : public_part;
  return digits.empty() || digits.front() < '0' || digits.front() > '9'
             ? std::nullopt
             : python::Version::parse(digits);
}

}  // namespace

TagPattern TagPattern::any_name() {
  TagPattern pattern;
  pattern.any_name_ = true;
  return pattern;
}

TagPattern TagPattern::after(std::string prefix) {
  TagPattern pattern;
  pattern.prefixes_.push_back(std::move(prefix));
  return pattern;
}

std::optional<TagPattern> TagPattern::from_regexp(std::string_view regexp) {
  auto prefixes = regexp.size() > longest_expression ? std::nullopt : PrefixReader{regexp}.read();
  if (!prefixes) {
    return std::nullopt;
  }
  TagPattern pattern;
  pattern.prefixes_ = std::move(*prefixes);
  std::ranges::stable_sort(pattern.prefixes_, [](const std::string& a, const std::string& b) {
    return a.size() > b.size();
  });
  return pattern;
}

std::optional<python::Version> TagPattern::version_of(std::string_view tag) const {
  for (const auto& prefix : prefixes_) {
    if (tag.starts_with(prefix)) {
      if (auto version = read_version(tag.substr(prefix.size()))) {
        return version;
      }
    }
  }
  if (!any_name_) {
    return std::nullopt;
  }
  // `^(?:[\w-]+-)?(?P<version>...)`: the longest possible name.
  const auto name_end = static_cast<std::size_t>(
      std::ranges::find_if_not(tag, [](char c) { return is_word_character(c) || c == '-'; }) -
      tag.begin());
  for (auto dash = tag.substr(0, name_end).rfind('-'); dash != std::string_view::npos && dash > 0;
       dash = tag.substr(0, dash).rfind('-')) {
    if (auto version = read_version(tag.substr(dash + 1))) {
      return version;
    }
  }
  return read_version(tag);
}

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
             ? std::vector{fmt::format("`--build-env={}=VERSION` sets another", *tool.variable)}
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
        fmt::format("git does not say which tag the version of the package comes from: {}",
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
        fmt::format("git's tag `{}` is not a version of the package: in the image it is `{}`",
                    printable(description->tag.value_or("")), unknown_version),
        tool.origin, hints(tool));
    return unknown_version;
  }
  if (!description->tag) {
    auto advice = hints(tool);
    if (description->shallow) {
      advice.emplace_back("the clone is shallow: `git fetch --unshallow --tags` fetches the rest");
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
