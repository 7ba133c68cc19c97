#include "build/wheels/index_versions.hpp"

#include "base/contains.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "build/wheels/chosen_file.hpp"
#include "lock/file_names.hpp"
#include "lock/readers.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"
#include "python/wheel_name.hpp"
#include "wheel/texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace autopack::build {

namespace {

constexpr std::size_t index_connections{8};

/// Returns the version in the name of a wheel or source distribution.
std::optional<python::Version> version_of(const std::string& file) {
  const auto wheel = python::WheelName::parse(file);
  const auto source = wheel ? std::nullopt : lock::parse_source_name(file);
  return wheel    ? std::optional{wheel->version}
         : source ? std::optional{source->second}
                  : std::nullopt;
}

/// Returns true for a wheel that suits every Python by its name.
bool is_for_every_python(const python::WheelName& wheel) {
  return contains(wheel.abis, "none") || contains(wheel.abis, "abi3");
}

/// Returns `3.9` for the tag `cp39`; nothing for another tag.
std::optional<std::string> python_of_tag(std::string_view tag) {
  constexpr std::string_view start{"cp3"};
  return tag.starts_with(start) && tag.size() > start.size()
             ? std::optional{fmt::format("3.{}", tag.substr(start.size()))}
             : std::nullopt;
}

}  // namespace

bool is_of_pip_indexes(const project::UvSettings& uv, const std::string& name) {
  return !uv.sources.contains(name) &&
         std::ranges::all_of(uv.indexes, &project::UvIndex::is_explicit);
}

NewestVersions::NewestVersions(PackageIndex& index,
                               const packaging::Packaging& work,
                               const python::Interpreter& interpreter,
                               const resolve::Question& question)
    : index_{index}, files_{interpreter}, names_{question.direct} {
  std::erase_if(names_, [&](const auto& name) {
    return !is_of_pip_indexes(work.plan().dependencies.uv, name);
  });
  for (const auto& listed : work.scanned().project.listed_requirements) {
    add(listed.requirement);
  }
  for (const auto& text : question.requirements) {
    add(python::parse_requirement(text));
  }
}

std::optional<python::Version> NewestVersions::of(const std::string& name) {
  if (index_.is_nowhere() || !contains(names_, name)) {
    return std::nullopt;
  }
  if (!pages_) {
    pages_ = index_.client().candidates_of(names_);
  }
  const auto candidates = to_candidates((*pages_)[name]);
  constexpr std::size_t most_tried{30};
  std::size_t tried = 0;
  for (const auto& version : versions_in(name, candidates)) {
    const auto choice = files_.choose({.name = name, .version = version}, candidates);
    if (choice.chosen || choice.source) {
      return version;
    }
    if (++tried == most_tried) {
      break;
    }
  }
  return std::nullopt;
}

void NewestVersions::add(const python::Requirement& requirement) {
  if (auto conditions = python::SpecifierSet::parse(requirement.rest);
      conditions && requirement.name) {
    conditions_[*requirement.name].push_back(std::move(*conditions));
  }
}

bool NewestVersions::is_allowed(const std::string& name, const python::Version& version) const {
  const auto found = conditions_.find(name);
  return found == conditions_.end() ||
         std::ranges::all_of(found->second, [&](const auto& conditions) {
           return conditions.contains(version, python::Prereleases::allowed);
         });
}

NewestVersions::Versions NewestVersions::versions_in(
    const std::string& name, const std::vector<lock::Candidate>& candidates) const {
  Versions versions;
  for (const auto& candidate : candidates) {
    const auto version = version_of(candidate.name);
    if (version && !version->is_prerelease() && !candidate.yanked && is_allowed(name, *version)) {
      versions.insert(*version);
    }
  }
  return versions;
}

UnfitVersions::UnfitVersions(Services& services,
                             PackageIndex& index,
                             const project::UvSettings& uv,
                             const python::Interpreter& interpreter)
    : services_{services}, index_{index}, uv_{uv}, interpreter_{interpreter}, files_{interpreter} {}

std::vector<resolve::Unfit> UnfitVersions::in(const std::string& packages) {
  if (index_.is_nowhere()) {
    return {};
  }
  const auto set =
      lock::read_pylock("lock-version = \"1.0\"\ncreated-by = \"autopack\"\n" + packages,
                        "requirements", {.interpreter = interpreter_});
  std::vector<std::optional<resolve::Unfit>> found(set.packages.size());
  in_parallel(found.size(), index_connections,
              [&](std::size_t i) { found[i] = judge(set.packages[i]); });
  std::vector<resolve::Unfit> unfit;
  for (auto& one : found) {
    if (one) {
      unfit.push_back(std::move(*one));
    }
  }
  return unfit;
}

std::optional<resolve::Unfit> UnfitVersions::judge(const lock::LockedPackage& package) const {
  const auto choice = files_.choose(package);
  const auto place = choice.chosen ? choice.chosen : choice.source;
  if (!place || !package.version || !package.files[*place].url || package.is_direct) {
    return std::nullopt;
  }
  resolve::Unfit unfit{.name = package.name, .version = package.version->str()};
  const auto& file = package.files[*place];
  if (const auto wheel = python::WheelName::parse(file.name)) {
    unfit.requires_python =
        is_for_every_python(*wheel) ? python_of_wheel(file).value_or("") : std::string{};
    const auto set = python::SpecifierSet::parse(unfit.requires_python);
    if (!set || set->contains(interpreter_.version, python::Prereleases::allowed)) {
      return std::nullopt;
    }
    unfit.excluded.push_back(unfit.version);
  }
  std::map<python::Version, std::vector<index::Candidate>> versions;
  for (auto& candidate : page_of(package.name)) {
    if (const auto version = version_of(candidate.name)) {
      versions[*version].push_back(std::move(candidate));
    }
  }
  for (const auto& [version, files] : versions) {
    const auto of_version =
        files_.choose({.name = package.name, .version = version}, to_candidates(files));
    if (of_version.chosen || of_version.source) {
      continue;
    }
    unfit.excluded.push_back(version.str());
    if (version == package.version && files.front().requires_python) {
      unfit.requires_python = *files.front().requires_python;
    }
  }
  return contains(unfit.excluded, unfit.version) ? std::optional{std::move(unfit)} : std::nullopt;
}

/// Returns the files of `name` in pip's indexes; empty if these do not decide about it.
std::vector<index::Candidate> UnfitVersions::page_of(const std::string& name) const {
  return is_of_pip_indexes(uv_, name) ? index_.client().candidates(name)
                                      : std::vector<index::Candidate>{};
}

/// Returns the METADATA beside a wheel; nothing if the server does not send it. Some answer 403 for
/// a file that does not exist. The wheel itself is checked when it is installed.
std::optional<std::string> UnfitVersions::published_metadata(const lock::LockedFile& file) const {
  try {
    return index_.client().metadata(
        {.name = file.name, .url = *file.url, .metadata = std::vector<python::Hash>{}});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::remote) {
      throw;
    }
    return std::nullopt;
  }
}

/// Returns the `Requires-Python` that an index publishes of a wheel; empty if there is none,
/// nothing if the index does not publish it.
std::optional<std::string> UnfitVersions::python_of_wheel(const lock::LockedFile& file) const {
  const auto digest = only_digest(file.hashes);
  const auto record = digest ? "requires python " + digest->hex() : std::string{};
  if (auto known = digest ? services_.wheel_records.get(record) : std::nullopt) {
    return known;
  }
  std::optional<std::string> condition;
  if (const auto text = published_metadata(file)) {
    condition = wheel::read_metadata(*text).requires_python.value_or("");
  } else {
    for (const auto& candidate : page_of(python::WheelName::parse(file.name).value().name)) {
      if (candidate.name == file.name) {
        condition = candidate.requires_python.value_or("");
      }
    }
  }
  if (condition && digest) {
    services_.wheel_records.put(record, *condition);
  }
  return condition;
}

Problems wheels_for_other_pythons(PackageIndex& index,
                                  const project::UvSettings& uv,
                                  const lock::LockedSet& set,
                                  const python::Interpreter& interpreter) {
  const lock::FileChooser files{interpreter};
  Problems problems;
  for (const auto& package : set.packages) {
    if (package.source || package.is_direct || !package.version || index.is_nowhere() ||
        !is_of_pip_indexes(uv, package.name) || package.files.empty() ||
        !files.choose(package).source) {
      continue;
    }
    std::set<python::Version> pythons;
    for (const auto& candidate : index.client().candidates(package.name)) {
      const auto wheel = python::WheelName::parse(candidate.name);
      if (!wheel || wheel->version != package.version || is_for_every_python(*wheel)) {
        continue;
      }
      for (const auto& tag : wheel->interpreters) {
        if (const auto python = python_of_tag(tag)) {
          pythons.insert(python::Version::parse(*python).value());
        }
      }
    }
    if (pythons.empty()) {
      continue;
    }
    const auto range = pythons.size() == 1 ? pythons.begin()->str()
                                           : fmt::format("{} to {}", pythons.begin()->str(),
                                                         pythons.rbegin()->str());
    problems.push_back(Problem::warning(
        {.message = fmt::format("`{}` {} has no wheel for this Python and has to be built",
                                package.name, package.version->str()),
         .hints = {fmt::format("take an executor image with Python {}, for which it has wheels, or "
                               "allow another version",
                               range)}}));
  }
  return problems;
}

}  // namespace autopack::build
