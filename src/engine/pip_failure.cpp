#include "engine/pip_failure.hpp"

#include "base/line.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

namespace autopack::engine {

namespace {

/// What pip found no version of: `nosuch==1`; none when the log does not say so.
std::optional<std::string> missing_requirement(std::string_view log) {
  for (const std::string_view sign :
       {"No matching distribution found for ", "satisfies the requirement "}) {
    const auto at = log.rfind(sign);
    if (at != std::string_view::npos) {
      const auto rest = log.substr(at + sign.size());
      const auto line = rest.substr(0, rest.find('\n'));
      return non_empty(std::string{trim(line.substr(0, line.find(" (from ")))});
    }
  }
  return std::nullopt;
}

/// The rest of the line behind the first `sign`, up to a comma or a bracket; none when nothing is
/// there.
std::optional<std::string> word_behind(std::string_view log, std::string_view sign) {
  const auto at = log.find(sign);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = log.substr(at + sign.size());
  return non_empty(std::string{trim(rest.substr(0, rest.find_first_of("\n,(")))});
}

/// The distribution's name of a requirement, as PEP 503 compares names.
std::string distribution(std::string_view requirement) {
  const auto end = requirement.find_first_of("<>=!~;[@( \t#");
  std::string name = to_lower(trim(requirement.substr(0, end)));
  for (char& c : name) {
    c = c == '_' || c == '.' ? '-' : c;
  }
  return name;
}

/// Where the project asks for `requirement`; none when something it depends on does.
std::optional<std::string> asked_in(const std::string& requirement,
                                    const plan::ReadablePlan& plan) {
  const std::string name = distribution(requirement);
  for (const auto& entry : plan.dependencies.inputs) {
    const bool text = entry.path.ends_with(".txt") || entry.path.ends_with(".in");
    if (!text || entry.type != source::EntryType::file || entry.tree >= plan.trees.size()) {
      continue;
    }
    const auto lines = split(plan.read(entry), '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (distribution(lines[i]) == name) {
        return fmt::format("`{}` line {}", entry.path, i + 1);
      }
    }
  }
  for (const auto& given : plan.dependencies.requirements) {
    if (distribution(given) == name) {
      return "`requirements`";
    }
  }
  return std::nullopt;
}

/// The option of a requirements file that may hide files of an index from pip; none without one.
std::optional<std::string> hiding_option(const plan::ReadablePlan& plan) {
  for (const auto& entry : plan.dependencies.inputs) {
    if (!entry.path.ends_with(".txt") || entry.type != source::EntryType::file ||
        entry.tree >= plan.trees.size()) {
      continue;
    }
    const auto lines = split(plan.read(entry), '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto line = trim(lines[i]);
      if (line.starts_with("--only-binary") || line.starts_with("--no-binary")) {
        return fmt::format("`{}` in `{}` line {} leaves files of the index out", printable(line),
                           entry.path, i + 1);
      }
    }
  }
  return std::nullopt;
}

/// The project's place for `requirement` as it ends a sentence.
std::string place_text(const std::string& requirement, const plan::ReadablePlan* plan) {
  const auto place = plan == nullptr ? std::nullopt : asked_in(requirement, *plan);
  return place ? fmt::format(", asked for in {}", *place) : "";
}

/// The requirement that pip took up last; none when it took up none.
std::optional<std::string> collected(std::string_view log) {
  constexpr std::string_view sign{"Collecting "};
  const auto at = log.rfind(sign);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = log.substr(at + sign.size());
  const auto line = rest.substr(0, rest.find('\n'));
  const auto name = trim(line.substr(0, line.find(" (from ")));
  return name.empty() ? std::nullopt : std::optional{std::string{name}};
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
    if (const auto name =
            at == std::string_view::npos ? std::nullopt : collected(log.substr(0, at))) {
      return fmt::format("git cannot fetch `{}`{}", printable(redact_credentials(*name)),
                         place_text(*name, plan));
    }
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
  return plan != nullptr && missing_requirement(log) ? hiding_option(*plan) : std::nullopt;
}

}  // namespace autopack::engine
