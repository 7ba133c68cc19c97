#include "build/docker/pip_failure.hpp"

#include "base/line.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace autopack::build {

namespace {

/// Returns the requirement between the last `sign` and the end of its line, without its origin;
/// nothing if there is none.
std::optional<std::string> requirement_behind(std::string_view log, std::string_view sign) {
  const auto at = log.rfind(sign);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = log.substr(at + sign.size());
  const auto line = rest.substr(0, rest.find('\n'));
  return non_empty(std::string{trim(line.substr(0, line.find(" (from ")))});
}

/// Returns the requirement without a matching version: `nosuch==1`; nothing if the log does not
/// name one.
std::optional<std::string> missing_requirement(std::string_view log) {
  auto missing = requirement_behind(log, "No matching distribution found for ");
  return missing ? missing : requirement_behind(log, "satisfies the requirement ");
}

/// Returns the rest of the line after the first `sign`, up to a comma or a bracket; nothing if it
/// is empty.
std::optional<std::string> word_behind(std::string_view log, std::string_view sign) {
  const auto at = log.find(sign);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = log.substr(at + sign.size());
  return non_empty(std::string{trim(rest.substr(0, rest.find_first_of("\n,(")))});
}

/// Returns the distribution's name in a requirement, normalised by PEP 503.
std::string distribution(std::string_view requirement) {
  const auto end = requirement.find_first_of("<>=!~;[@( \t#");
  std::string name = to_lower(trim(requirement.substr(0, end)));
  for (char& c : name) {
    c = c == '_' || c == '.' ? '-' : c;
  }
  return name;
}

struct RequirementLine {
  std::string text{};
  std::string place{};  ///< "`requirements.txt` line 2"
};

/// Returns the lines of the requirement files of `plan`.
std::vector<RequirementLine> requirement_lines(const plan::ReadablePlan& plan) {
  std::vector<RequirementLine> found;
  for (const auto& entry : plan.dependencies.inputs) {
    const bool text = entry.path.ends_with(".txt") || entry.path.ends_with(".in");
    if (!text || entry.type != source::EntryType::file || entry.tree >= plan.trees.size()) {
      continue;
    }
    const auto lines = split(plan.read(entry), '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
      found.push_back(
          {std::string{trim(lines[i])}, fmt::format("`{}` line {}", entry.path, i + 1)});
    }
  }
  return found;
}

/// Returns the project's place that lists `requirement`; nothing if it is only a dependency.
std::optional<std::string> asked_in(const std::string& requirement,
                                    const plan::ReadablePlan& plan) {
  const std::string name = distribution(requirement);
  for (const auto& line : requirement_lines(plan)) {
    if (distribution(line.text) == name) {
      return line.place;
    }
  }
  for (const auto& given : plan.dependencies.requirements) {
    if (distribution(given) == name) {
      return "`requirements`";
    }
  }
  return std::nullopt;
}

/// Returns true if `option`, a line of a requirements file, makes pip ignore files of
/// `requirement`.
bool hides_files(std::string_view option, const std::string& requirement) {
  for (const std::string_view name : {"--only-binary", "--no-binary"}) {
    if (!option.starts_with(name)) {
      continue;
    }
    const auto value = option.substr(name.size(), option.find(" #") - name.size());
    const auto names =
        split(value.substr(std::min(value.find_first_not_of(" ="), value.size())), ',');
    return std::ranges::any_of(names, [&](const auto& one) {
      return trim(one) == ":all:" || distribution(one) == distribution(requirement);
    });
  }
  return false;
}

/// Returns the project's place of `requirement` as the end of a sentence.
std::string place_text(const std::string& requirement, const plan::ReadablePlan* plan) {
  const auto place = plan == nullptr ? std::nullopt : asked_in(requirement, *plan);
  return place ? fmt::format(", asked for in {}", *place) : "";
}

/// Returns the package that pip processed last before a build program failed; nothing for a local
/// project, or if the log has no such failure.
std::optional<std::string> built_before_end(std::string_view log) {
  const auto at = log.find("subprocess-exited-with-error");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto before = log.substr(0, at);
  std::string_view last;
  std::size_t place = 0;
  for (const std::string_view sign : {"Collecting ", "Processing ", "Obtaining "}) {
    const auto found = before.rfind(sign);
    if (found != std::string_view::npos && (last.empty() || found > place)) {
      last = sign;
      place = found;
    }
  }
  return last.empty() || last == "Obtaining " ? std::nullopt : requirement_behind(before, last);
}

/// Returns the module that the build of a source distribution failed to import; nothing if the log
/// does not name one.
std::optional<std::string> module_missing_in_build(std::string_view log) {
  constexpr std::string_view sign{"ModuleNotFoundError: No module named '"};
  const auto at = log.rfind(sign);
  if (log.find("subprocess-exited-with-error") == std::string_view::npos ||
      at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = log.substr(at + sign.size());
  return non_empty(std::string{rest.substr(0, rest.find_first_of("'.\n"))});
}

/// Returns the leading numbers of a version: 1, 11 and 0 of `1.11.0+cu113`.
std::vector<int> numbers_of(std::string_view version) {
  std::vector<int> numbers;
  for (const auto& part : split(version.substr(0, version.find_first_not_of("0123456789.")), '.')) {
    int number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

/// Returns what the index has instead of `missing`, a version older than all of these.
std::optional<std::string> newer_versions_hint(std::string_view log,
                                               const std::string& missing,
                                               const plan::ReadablePlan& plan) {
  const auto equals = missing.find("==");
  const auto listed = word_behind(log, "(from versions: ");  // the first one
  if (equals == std::string::npos || !listed || !plan.base.python_version) {
    return std::nullopt;
  }
  const auto oldest = printable(listed->substr(0, listed->find(')')));
  if (oldest == "none" ||
      numbers_of(std::string_view{missing}.substr(equals + 2)) >= numbers_of(oldest)) {
    return std::nullopt;
  }
  return fmt::format(
      "for Python {} the index has {} and newer only: take an executor image with an older Python, "
      "or a newer version",
      *plan.base.python_version, oldest);
}

}  // namespace

std::optional<std::string> pip_complaint(std::string_view log, const plan::ReadablePlan* plan) {
  if (const auto missing = missing_requirement(log)) {
    return fmt::format("pip finds no version of `{}`{}", printable(*missing),
                       place_text(*missing, plan));
  }
  for (const std::string_view sign :
       {"ERROR: Failed building wheel for ", "ERROR: Could not build wheels for "}) {
    if (const auto name = word_behind(log, sign)) {
      return fmt::format("pip cannot build `{}`{}", printable(*name), place_text(*name, plan));
    }
  }
  for (const std::string_view sign : {"ERROR: Cannot find command 'git'", " git clone "}) {
    const auto at = log.find(sign);
    // This is the package that pip processed last.
    if (const auto name = at == std::string_view::npos
                              ? std::nullopt
                              : requirement_behind(log.substr(0, at), "Collecting ")) {
      return fmt::format("git cannot fetch `{}`{}", printable(redact_credentials(*name)),
                         place_text(*name, plan));
    }
  }
  if (const auto name = built_before_end(log)) {
    return fmt::format("pip cannot build `{}`{}", printable(redact_credentials(*name)),
                       place_text(*name, plan));
  }
  if (const auto invalid = word_behind(log, "ERROR: Invalid requirement: ")) {
    return fmt::format("pip cannot read the requirement {}", printable(*invalid));
  }
  return std::nullopt;
}

std::optional<std::string> backend_complaint(std::string_view log) {
  const auto written = trim(log.substr(0, log.find("[end of output]")));
  if (written.size() == trim(log).size()) {
    return std::nullopt;
  }
  const auto line = trim(written.substr(written.rfind('\n') + 1));
  return non_empty(std::string{line});
}

std::optional<std::string> pip_hint(std::string_view log, const plan::ReadablePlan* plan) {
  if (const auto module = module_missing_in_build(log)) {
    return fmt::format(
        "the build imports `{0}`, which pip's isolated build does not see: name a wheel by its "
        "URL, "
        "or take an executor image that has `{0}` and pass `--build-env=PIP_NO_BUILD_ISOLATION=0`",
        printable(*module));
  }
  const auto missing = plan == nullptr ? std::nullopt : missing_requirement(log);
  for (const auto& line : missing ? requirement_lines(*plan) : std::vector<RequirementLine>{}) {
    if (hides_files(line.text, *missing)) {
      return fmt::format("`{}` in {} leaves files of the index out", printable(line.text),
                         line.place);
    }
  }
  return missing ? newer_versions_hint(log, *missing, *plan) : std::nullopt;
}

}  // namespace autopack::build
