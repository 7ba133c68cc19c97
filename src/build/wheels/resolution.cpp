#include "build/wheels/resolution.hpp"

#include "base/contains.hpp"
#include "base/elapsed.hpp"
#include "base/error.hpp"
#include "base/report.hpp"
#include "base/text.hpp"
#include "build/wheels/index_versions.hpp"
#include "build/wheels/package_index.hpp"
#include "build/wheels/remembered_sources.hpp"
#include "build/wheels/required_hashes.hpp"
#include "build/wheels/resolver_input.hpp"
#include "build/wheels/source_reader.hpp"
#include "build/wheels/unsatisfied.hpp"
#include "executor/python_facts.hpp"
#include "lock/locked_set.hpp"
#include "lock/readers.hpp"
#include "lock/select.hpp"
#include "project/findings.hpp"
#include "project/requirements/own_lock.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"
#include "resolve/resolver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace autopack::build {

namespace {

using packaging::Packaging;
using resolve::Installed;

constexpr auto* of_image = " (executor image)";
constexpr std::string_view prereleases{"--pre"};

/// Replacing one of these changes no program that the image was chosen for.
constexpr std::array<std::string_view, 3> build_tools{"pip", "setuptools", "wheel"};

/// The other options that uv reads as pip does, or that choose no version.
constexpr std::array<std::string_view, 7> options_of_uv{
    "--no-binary",   "--only-binary", "--require-hashes", "--prefer-binary",
    "--requirement", "--constraint",  prereleases};

std::vector<Installed> installed_in(Services& services,
                                    const Packaging& work,
                                    const executor::PythonFacts& facts) {
  const auto requirements = executor::installed_requirements(
      services, work.plan().base, executor::image_places(work.request()));
  std::vector<Installed> installed;
  std::set<std::string> names;
  for (std::size_t i = 0; i < facts.installed.size(); ++i) {
    const auto& one = facts.installed[i];
    if (one.version && python::Version::parse(*one.version) && names.insert(one.name).second) {
      installed.push_back(
          {.name = one.name,
           .version = *one.version,
           .requirements = i < requirements.size() ? requirements[i] : std::vector<std::string>{}});
    }
  }
  return installed;
}

resolve::Question question_of(Services& services,
                              const Packaging& work,
                              const executor::PythonFacts& facts,
                              const LockChoice& choice,
                              ResolverInput& input) {
  const auto& dependencies = work.plan().dependencies;
  resolve::Question question{
      .write_files = [&input](const auto& directory) { input.write(directory); },
      .requirement_files = dependencies.requirement_files,
      .requirements = dependencies.requirements,
      .interpreter = *facts.interpreter,
      .installed = installed_in(services, work, facts),
      .prereleases =
          std::ranges::any_of(work.scanned().project.listed_options,
                              [](const auto& option) { return option.name == prereleases; }),
      .exclude_newer = choice.exclude_newer,
      .sources = dependencies.uv.sources,
      .options = dependencies.uv.options,
      .chooses_strategy = dependencies.uv.chooses_strategy};
  for (const auto& [name, url, is_explicit, is_default, is_flat] : dependencies.uv.indexes) {
    question.indexes.push_back({.name = name,
                                .url = url,
                                .is_explicit = is_explicit,
                                .is_default = is_default,
                                .is_flat = is_flat});
  }
  for (const auto* more : {&dependencies.package_requirements, &dependencies.build_requirements}) {
    question.requirements.insert(question.requirements.end(), more->begin(), more->end());
  }
  if (const auto& own = choice.own.package) {
    question.requirements.insert(question.requirements.end(), own->requirements.begin(),
                                 own->requirements.end());
  }
  for (const auto& listed : work.scanned().project.listed_requirements) {
    if (!listed.constraint && listed.requirement.name) {
      question.direct.push_back(*listed.requirement.name);
    }
  }
  std::erase_if(question.requirements, [&](const std::string& text) {
    const auto name = python::parse_requirement(text).name;
    name ? question.direct.push_back(*name) : input.add(text);
    return !name;
  });
  project::sort_unique(question.direct);
  for (const auto& path : dependencies.packages) {
    input.add("./" + path);
  }
  question.requirement_files.emplace_back(ResolverInput::own_file);
  for (const auto& constraint : work.scanned().project.constraints) {
    question.constraints.push_back(constraint.is_url ? "-c " + constraint.name : constraint.text);
  }
  if (!choice.upgrades) {
    question.before = choice.before;
  }
  for (const auto& name : choice.upgraded) {
    question.upgrades.push_back(python::normalise_name(name));
  }
  return question;
}

/// Returns the key of what earlier resolutions of the project read: an executor image may build
/// other metadata, and another index may have other files.
std::string key_of_sources_read(const Packaging& work,
                                const executor::PythonFacts& facts,
                                const PackageIndex& index) {
  std::error_code ignored;
  const auto directory =
      std::filesystem::weakly_canonical(work.request().project.directory, ignored);
  return fmt::format("sources of {} {} {} {}", directory.string(),
                     work.plan().base.digest ? work.plan().base.digest->str() : "",
                     facts.interpreter->version.str(), index.identity());
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  std::ranges::transform(texts, std::back_inserter(quoted),
                         [](const auto& text) { return double_quoted(text); });
  return "[" + join(quoted, ", ") + "]";
}

std::string lock_text(const Packaging& work,
                      const executor::PythonFacts& facts,
                      const resolve::Resolution& resolution,
                      const std::vector<std::string>& read_by_build) {
  const auto version = facts.interpreter->version.str();
  const auto parts = split(version, '.');
  std::vector<std::string> provided;
  for (const auto& one : resolution.provided) {
    provided.push_back(fmt::format("{}=={}", one.name, one.version));
  }
  const std::vector<std::string> sections{
      fmt::format("# Written by `autopack lock` for an executor image with Python {}.\n"
                  "lock-version = \"1.0\"\ncreated-by = \"autopack\"\n"
                  "requires-python = \"=={}.{}.*\"",
                  version, parts.at(0), parts.at(1)),
      resolution.packages.empty() ? "packages = []" : std::string{trim(resolution.packages)},
      fmt::format("{}\n{}provided = {}\nchoices = {}", project::own_lock_table,
                  provided.empty() ? std::string{}
                                   : fmt::format("# Not installed: the executor image `{}` has "
                                                 "them.\n",
                                                 work.plan().base.reference),
                  toml_list(provided),
                  toml_list(project::choices_of_own_lock(work.request().project))),
      project::own_lock_inputs};
  std::string text = join(sections, "\n\n") + "\n";
  for (const auto& [path, hash] :
       project::inputs_of_own_lock(*work.scanned().tree, work.scanned().project, read_by_build)) {
    text += fmt::format("{} = {}\n", double_quoted(path), double_quoted(hash));
  }
  return text;
}

/// Returns ` (906.5 MB)`, the download for `name` in `lock`; empty if its size is unknown.
std::string download_size(const std::string& name,
                          const std::string& lock,
                          const python::Interpreter& interpreter) {
  const auto set = lock::read_pylock(lock, "requirements", {.interpreter = interpreter});
  const auto found = std::ranges::find(set.packages, name, &lock::LockedPackage::name);
  if (found == set.packages.end() || found->source) {
    return {};
  }
  const auto chosen = lock::FileChooser{interpreter}.choose(*found).chosen;
  const auto size = chosen ? found->files[*chosen].size : std::nullopt;
  return size ? fmt::format(" ({})", human_size(*size)) : std::string{};
}

/// Returns the line of a requirements file that names the index in `error`; nothing if no line
/// does.
std::optional<std::string> line_of_index(const Error& error, const project::Project& project) {
  for (const auto& [name, value, origin] : project.listed_options) {
    if (contains(index_options, name) && !value.empty() && !error.causes().empty() &&
        error.causes().front().starts_with(value)) {
      return origin;
    }
  }
  return std::nullopt;
}

/// Returns the sources that the project requires without a name, with their lines.
std::vector<std::string> unnamed_sources(const project::Project& project) {
  std::vector<std::string> lines;
  for (const auto& listed : project.listed_requirements) {
    const auto& requirement = listed.requirement;
    if (!requirement.target.empty() && !requirement.name && !requirement.target.ends_with(".whl")) {
      lines.push_back(
          fmt::format("{} requires `{}`", listed.origin, printable(requirement.target)));
    }
  }
  return lines;
}

/// Resolves `question` of `work`; an error names the user's lines.
resolve::Resolution resolved_with_places(const Packaging& work,
                                         const resolve::Question& question,
                                         const resolve::Means& means) {
  const auto count = question.requirements.size();
  const LiveStep step{*means.reporter,
                      fmt::format("resolve {} requirement{}", count, count == 1 ? "" : "s")};
  try {
    return resolve::resolve(question, means);
  } catch (resolve::BuildNeeded& error) {
    if (!error.is_named()) {
      for (const auto& line : unnamed_sources(work.scanned().project)) {
        error.cause(line);
      }
    }
    throw;
  } catch (Error& error) {
    if (error.kind() != ErrorKind::project) {
      if (const auto line = line_of_index(error, work.scanned().project)) {
        error.cause(*line + " names the index");
      }
      throw;  // with its type
    }
    throw with_places(error, work.scanned().project, question.requirements);
  }
}

void report(Services& services,
            const executor::PythonFacts& facts,
            const resolve::Resolution& resolution,
            const std::string& lock,
            const std::string& took) {
  const auto provided = resolution.provided.size();
  services.reporter->done(
      "Resolved",
      fmt::format(
          "{} package{} for Python {} of the executor image in {}{}", resolution.chosen + provided,
          resolution.chosen + provided == 1 ? "" : "s", facts.interpreter->version.str(), took,
          provided == 0 ? std::string{} : fmt::format(" ({} of them it has already)", provided)));
  for (const auto& one : resolution.raised) {
    services.reporter->done("Raised", fmt::format("{} to {}: the first solution had {}, far behind "
                                                  "the newest version",
                                                  one.name, one.version, one.before));
  }
  for (const auto& one : resolution.replaced) {
    auto text = fmt::format(
        "`{}` {}{} replaces the {} of the executor image", one.installed.name, one.version,
        download_size(one.installed.name, lock, *facts.interpreter), one.installed.version);
    if (contains(build_tools, one.installed.name)) {
      services.reporter->detail(text);
    } else {
      services.reporter->warn(Problem::warning({.message = std::move(text)}));
    }
  }
  for (const auto& one : resolution.broken) {
    services.reporter->warn(Problem::warning(
        {.message =
             fmt::format("`{}` {} of the executor image requires `{}`, which is replaced",
                         one.installed.name, one.installed.version, printable(one.requirement)),
         .hints = {fmt::format("require a version of `{}` that fits, or `{}` itself, so that it is "
                               "replaced too",
                               python::parse_requirement(one.requirement).name.value_or(""),
                               one.installed.name)}}));
  }
}

}  // namespace

Problems obstacles_to_resolution(const Packaging& work,
                                 const executor::PythonFacts& facts,
                                 const FoundOwnPackage& own) {
  const auto& dependencies = work.plan().dependencies;
  Problems problems;
  if (!facts.interpreter) {
    problems.push_back({.message = fmt::format("the Python of the executor image `{}` is unknown",
                                               printable(work.plan().base.reference)),
                        .reason = facts.obstacle});
  } else if (facts.interpreter->implementation != "cpython") {
    problems.push_back({.message = "only requirements for CPython can be resolved"});
  }
  if (dependencies.resolves && dependencies.install && !own.package) {
    problems.push_back(
        {.message = "only a build of the project's own package knows what it requires",
         .hints = {"list its dependencies in `[project]` of pyproject.toml"},
         .reason = own.obstacle});
  }
  if (work.scanned().project.has_index_credentials) {
    problems.push_back({.message = "a URL in a requirements file contains a login",
                        .hints = {"write the login into netrc, or into PIP_INDEX_URL"}});
  }
  for (const auto& option : work.scanned().project.listed_options) {
    if (!contains(options_of_uv, option.name) && !contains(index_options, option.name)) {
      problems.push_back({.message = fmt::format("only pip knows `{}`", printable(option.name)),
                          .origin = option.origin});
    } else if (contains(index_options, option.name) &&
               option.value.find('?') != std::string::npos) {
      problems.push_back(
          {.message = fmt::format("the URL of `{}` has a query, which only pip gets", option.name),
           .origin = option.origin});
    }
  }
  for (const auto& listed : work.scanned().project.listed_requirements) {
    if (listed.hides_source || !variables_of(listed.requirement.target).empty()) {
      problems.push_back({.message = "a URL with a login, a query or a variable is only for pip",
                          .origin = listed.origin});
    } else if (!listed.options.empty()) {
      problems.push_back(
          {.message = fmt::format("only pip knows `{}`", printable(listed.options.front())),
           .origin = listed.origin});
    } else if (!listed.hashes.empty() &&
               std::ranges::none_of(listed.hashes, [](const std::string& hash) {
                 return hash.starts_with("sha256:");
               })) {
      problems.push_back(
          {.message = "only pip checks hashes other than sha256", .origin = listed.origin});
    }
  }
  return problems;
}

Locked resolve_requirements(Services& services,
                            const Packaging& work,
                            const executor::PythonFacts& facts,
                            const LockChoice& choice) {
  auto problems = obstacles_to_resolution(work, facts, choice.own);
  const auto& own = choice.own.package;
  if (!work.plan().dependencies.has_requirements() && (!own || own->requirements.empty())) {
    problems.push_back({.message = "the project has no requirements to lock"});
  }
  throw_if_errors(problems, ErrorKind::project);
  const auto index = std::make_shared<PackageIndex>(services, work, facts.default_index);
  const auto uv = resolve::get_uv(services.environment, services.cancellation, index->client(),
                                  index->wheels());
  services.reporter->detail(fmt::format("uv {} from {}", uv.version, uv.origin));
  ResolverInput input{work};
  auto question = question_of(services, work, facts, choice, input);
  const auto& of_uv = work.plan().dependencies.uv;
  const auto key_of_sources = key_of_sources_read(work, facts, *index);
  question.sources_read =
      sources_from_json(services.wheel_records.get(key_of_sources).value_or(""));
  std::erase_if(question.sources_read,
                [&](const auto& source) { return !is_of_pip_indexes(of_uv, source.name); });
  const SourceReader sources{services, work, index, choice.build};
  NewestVersions newest{*index, work, *facts.interpreter, question};
  UnfitVersions unfit{services, *index, of_uv, *facts.interpreter};
  const auto begin = std::chrono::steady_clock::now();
  const auto resolution = resolved_with_places(
      work, question,
      {.uv = uv,
       .environment = services.environment,
       .indexes = index->settings(),
       .google_token = [&](const std::string&) { return google_token(services); },
       .read_source = [&](const auto& name,
                          const auto& version) { return sources.requirements(name, version); },
       .name_sources = [&] { return input.name_sources(); },
       .read_chosen =
           [&](const auto& lock, const auto& names) {
             auto all = sources.metadata_of(lock, names, *facts.interpreter);
             for (std::size_t i = 0; all && i < names.size(); ++i) {
               const auto name = python::normalise_name(all->at(i).name);
               if (!input.rename(names[i], name) && name != names[i]) {
                 throw Error{
                     ErrorKind::project,
                     Problems{{.message = fmt::format("the source of `{}` is a package `{}`",
                                                      printable(names[i]), printable(name)),
                               .origin = place_of_requirement(work.scanned().project, names[i]),
                               .hints = {fmt::format("write `{} @ ...`", printable(name))}}}};
               }
             }
             return all;
           },
       .newest = [&](const auto& name) { return newest.of(name); },
       .unfit = [&](const auto& packages) { return unfit.in(packages); },
       .reporter = services.reporter,
       .cancellation = services.cancellation});
  const auto took = elapsed_text(std::chrono::steady_clock::now() - begin);
  if (!resolution.sources.empty()) {
    auto& read = question.sources_read;
    read.insert(read.end(), resolution.sources.begin(), resolution.sources.end());
    services.wheel_records.put(key_of_sources, to_json(read));
  }
  Locked locked{.text = lock_text(work, facts, resolution,
                                  own ? lists_read_by_build(*own) : std::vector<std::string>{})};
  const auto set =
      lock::read_pylock(locked.text, "requirements", {.interpreter = *facts.interpreter});
  check_required_hashes(work.scanned().project, set, *facts.interpreter);
  report(services, facts, resolution, locked.text, took);
  for (const auto& [name, version, extra] : resolution.missing_extras) {
    services.reporter->warn(Problem::warning(
        {.message = fmt::format("`{}` {} has no extra `{}`", name, version, printable(extra)),
         .origin = place_of_requirement(work.scanned().project, name)}));
  }
  for (const auto& problem : wheels_for_other_pythons(*index, of_uv, set, *facts.interpreter)) {
    services.reporter->warn(problem);
  }
  locked.versions = locked_versions(locked.text);
  for (const auto& name : choice.upgraded) {
    const auto pin = python::normalise_name(name) + "==";
    if (std::ranges::none_of(locked.versions,
                             [&](const auto& one) { return one.starts_with(pin); })) {
      services.reporter->warn(
          Problem::warning({.message = fmt::format("nothing requires `{}`", printable(name)),
                            .origin = "`--upgrade`"}));
    }
  }
  return locked;
}

std::vector<std::string> locked_versions(const std::string& text) {
  std::vector<std::string> versions;
  std::string name;
  for (const auto& line : split(text, '\n')) {
    constexpr std::string_view names{"name = \""};
    constexpr std::string_view numbers{"version = \""};
    if (line.starts_with(names)) {
      name = line.substr(names.size(), line.size() - names.size() - 1);
    } else if (line.starts_with(numbers) && !name.empty()) {
      versions.push_back(fmt::format(
          "{}=={}", name, line.substr(numbers.size(), line.size() - numbers.size() - 1)));
      name.clear();
    }
  }
  for (const auto& provided : project::provided_by_image(text)) {
    versions.push_back(provided + of_image);
  }
  std::ranges::sort(versions);
  return versions;
}

}  // namespace autopack::build
