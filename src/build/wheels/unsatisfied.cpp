#include "build/wheels/unsatisfied.hpp"

#include "base/text.hpp"
#include "project/tables/known_distributions.hpp"
#include "project/tables/python_names.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

namespace autopack::build {

namespace {

/// The beginning of resolve::resolve()'s error about a repository.
constexpr std::string_view not_fetched{"could not fetch `"};

/// A requirement of the project, and its place.
struct Placed {
  python::Requirement requirement{};
  std::string origin{};  ///< `requirements.txt:3`
};

/// Returns the beginning of `text` that a name can have.
std::string_view name_at(std::string_view text) {
  const auto end = std::ranges::find_if(text, [](char c) {
    return !is_alphanumeric({&c, 1}, "-_.");
  });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// Returns the names after each `words` in `text`, in their normal form.
std::set<std::string> names_after(std::string_view text, std::string_view words) {
  std::set<std::string> names;
  for (auto at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) {
    names.insert(python::normalise_name(name_at(text.substr(at + words.size()))));
  }
  return names;
}

/// Returns the requirements of the project that `is_meant` selects.
std::vector<Placed> placed(const std::function<bool(const python::Requirement&)>& is_meant,
                           const project::Project& project,
                           const std::vector<std::string>& others) {
  std::vector<Placed> all;
  const auto add = [&](const python::Requirement& requirement, const std::string& origin) {
    if (is_meant(requirement)) {
      all.push_back({.requirement = requirement, .origin = origin});
    }
  };
  for (const auto& listed : project.listed_requirements) {
    add(listed.requirement, listed.origin);
  }
  for (const auto& written : project.requirements) {
    add(written.parts, project.origin_of(written.origin));
  }
  const auto& package = project.package;
  const auto file = package && !package->files.empty() ? package->files.front() : "requirements";
  for (const auto& text : others) {
    const auto requirement = python::parse_requirement(text);
    if (std::ranges::none_of(
            all, [&](const auto& one) { return one.requirement.name == requirement.name; })) {
      add(requirement, file);
    }
  }
  return all;
}

std::vector<Placed> placed(const std::set<std::string>& names,
                           const project::Project& project,
                           const std::vector<std::string>& others) {
  return placed(
      [&](const auto& requirement) {
        return requirement.name && names.contains(*requirement.name);
      },
      project, others);
}

/// Returns `error` with the places of the packages at the beginning of its problems.
Error with_origins(const Error& error, const project::Project& project) {
  auto problems = error.problems();
  for (auto& problem : problems) {
    const auto place =
        placed(names_after(problem.message.substr(0, problem.message.find(' ')), "`"), project, {});
    if (!problem.origin && !place.empty()) {
      problem.origin = place.front().origin;
    }
  }
  return Error{error.kind(), std::move(problems)};
}

std::vector<std::string> remedies_for_version(const python::Requirement& requirement) {
  const auto plus = requirement.rest.find('+');
  if (plus == std::string::npos) {
    return {};
  }
  const auto build = requirement.rest.substr(plus);
  return {fmt::format("name the index with the builds `{}`: a line `--extra-index-url URL`",
                      printable(build)),
          fmt::format("or leave `{}` out", printable(build))};
}

}  // namespace

std::string place_of_requirement(const project::Project& project, const std::string& name) {
  const auto listed = std::ranges::find_if(project.listed_requirements, [&](const auto& one) {
    return !one.constraint && one.requirement.name == name;
  });
  if (listed != project.listed_requirements.end()) {
    return listed->origin;
  }
  const auto asked = std::ranges::find_if(project.requirements,
                                          [&](const auto& one) { return one.parts.name == name; });
  return project.origin_of(asked == project.requirements.end() ? "requirements" : asked->origin);
}

std::vector<std::string> remedies_for_name(const std::string& name) {
  const auto module = replace_all(name, "-", "_");
  if (const auto usual = project::usual_distribution(module);
      usual && python::normalise_name(*usual) != name) {
    return {fmt::format("the module `{}` is in `{}`", module, *usual)};
  }
  if (project::is_standard_module(module)) {
    return {fmt::format("`{}` is part of Python: leave it out", module)};
  }
  if (const auto near = project::nearest_module(module)) {
    const auto usual = project::usual_distribution(*near);
    return {fmt::format("did you mean `{}`?", usual.value_or(*near))};
  }
  return {};
}

Error with_places(Error error,
                  const project::Project& project,
                  const std::vector<std::string>& others) {
  if (!error.problems().empty()) {
    return with_origins(error, project);
  }
  const auto text = join(error.causes(), " ");
  if (error.message().starts_with(not_fetched)) {
    const auto url = error.message().substr(not_fetched.size());
    const auto places = placed(
        [&](const auto& requirement) {
          return requirement.target.find(url.substr(0, url.find('`'))) != std::string::npos;
        },
        project, others);
    return places.empty() ? error
                          : Error{error.kind(), Problems{{.message = error.message(),
                                                          .origin = places.front().origin,
                                                          .hints = error.hints(),
                                                          .reason = non_empty(text)}}};
  }
  const auto required = placed(names_after(text, "you require "), project, others);
  if (error.kind() != ErrorKind::project || !text.starts_with("Because ") || required.empty()) {
    return error;
  }
  Problems problems;
  for (const auto& [requirement, origin] : required) {
    const auto& name = requirement.name.value();
    if (text.find(" " + name + " was not found in the package registry") != std::string::npos) {
      problems.push_back({.message = fmt::format("no index has a package `{}`", printable(name)),
                          .origin = origin,
                          .hints = remedies_for_name(name)});
    } else if (text.starts_with("Because there is no version of ") && required.size() == 1) {
      problems.push_back(
          {.message = fmt::format("no index has `{}`", printable(python::normalised(requirement))),
           .origin = origin,
           .hints = remedies_for_version(requirement)});
    }
  }
  if (!problems.empty()) {
    return Error{ErrorKind::project, std::move(problems)};
  }
  for (const auto& [requirement, origin] : required) {
    error.cause(
        fmt::format("{} requires `{}`", origin, printable(python::normalised(requirement))));
  }
  return error;
}

}  // namespace autopack::build
