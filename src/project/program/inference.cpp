#include "project/program/inference.hpp"

#include "base/text.hpp"
#include "project/findings.hpp"
#include "project/requirements/named_pythons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace autopack::project {

namespace {

/// Versions with wheels for most packages come first.
constexpr std::array versions_of_choice{"3.11", "3.12", "3.13", "3.10", "3.14", "3.9", "3.8"};

/// Returns the first version of choice that satisfies all `conditions`; nothing if there is none.
std::optional<std::string> version_for(const std::vector<RequiresPython>& conditions) {
  const auto* const found = std::ranges::find_if(versions_of_choice, [&](const char* version) {
    const auto parsed = python::Version::parse(version);
    return std::ranges::all_of(
        conditions, [&](const RequiresPython& one) { return parsed && one.allows(*parsed); });
  });
  return found == versions_of_choice.end() ? std::nullopt : std::optional<std::string>{*found};
}

}  // namespace

Inferred infer_executor_image(const source::Tree& tree, const Project& project) {
  Inferred image{.what = "executor image", .flag = "--executor-image-uri"};
  const auto take = [&](const std::string& version, std::string reason) {
    image.value = "python:" + version;
    image.reason = std::move(reason);
    return image;
  };
  const auto named = read_named_pythons({tree, source::Selection{}});
  if (!named.empty() && named.front().origin == ".python-version") {
    const auto& text = named.front().text;
    return take(text.substr(0, text.find(' ')), "by .python-version");
  }
  const auto reason_of = [](const RequiresPython& one) {
    return fmt::format("{} `{}`", one.origin, printable(one.text));
  };
  const auto& required = project.requires_python ? project.requires_python : project.script_python;
  auto conditions = named;
  if (project.requires_python && project.script_python) {
    conditions.insert(conditions.begin(), *project.script_python);
  }
  if (required) {
    conditions.insert(conditions.begin(), *required);
  }
  if (conditions.empty()) {
    return take(versions_of_choice.front(), "the project names no version of Python");
  }
  if (const auto version = version_for(conditions)) {
    return take(*version, reason_of(conditions.front()));
  }
  if (!required) {
    return take(versions_of_choice.front(),
                "no image is known for the version that the project names");
  }
  if (const auto version = version_for({*required})) {
    return take(*version, reason_of(*required));
  }
  throw Error(ErrorKind::usage,
              fmt::format("no executor image is known for Python `{}`", printable(required->text)))
      .cause(required->origin)
      .hint("`--executor-image-uri IMAGE` names one");
}

}  // namespace autopack::project
