#include "build/wheels/resolution.hpp"

#include "base/contains.hpp"
#include "base/digest.hpp"
#include "base/elapsed.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "build/wheels/package_index.hpp"
#include "executor/python_facts.hpp"
#include "project/requirements/own_lock.hpp"
#include "python/name.hpp"
#include "resolve/resolver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

namespace autopack::build {

namespace {

using packaging::Packaging;
using resolve::Installed;

constexpr auto* of_image = " (executor image)";

/// Returns `text` with the lines that the installation has instead.
std::string edited(const std::string& path,
                   const std::string& text,
                   const std::vector<project::LineEdit>& edits) {
  auto lines = split(text, '\n');
  for (const auto& edit : edits) {
    const auto last = static_cast<std::size_t>(edit.last_line);
    if (edit.file != path || last > lines.size()) {
      continue;
    }
    for (auto i = static_cast<std::size_t>(edit.first_line); i < last; ++i) {
      lines[i].clear();
    }
    lines[static_cast<std::size_t>(edit.first_line) - 1] = edit.text;
  }
  return join(lines, "\n");
}

void write_inputs(const Packaging& work, const std::filesystem::path& directory) {
  const auto& plan = work.plan();
  for (const auto& entry : plan.dependencies.inputs) {
    const auto path = directory / entry.path;
    if (entry.type != source::EntryType::file) {
      continue;  // a link leads to another input; uv reads no directory for itself
    }
    const auto text = plan.read(entry);
    write_file(path, contains(plan.dependencies.requirement_files, entry.path)
                         ? edited(entry.path, text, plan.dependencies.requirement_edits)
                         : text);
  }
}

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

/// Refuses what only an installation can find out.
void refuse_unknown(const Packaging& work, const executor::PythonFacts& facts) {
  const auto& dependencies = work.plan().dependencies;
  Problems problems;
  if (!facts.interpreter) {
    problems.push_back({.message = fmt::format("the Python of the executor image `{}` is unknown",
                                               printable(work.plan().base.reference)),
                        .reason = facts.obstacle});
  } else if (facts.interpreter->implementation != "cpython") {
    problems.push_back({.message = "only requirements for CPython can be resolved"});
  }
  if (dependencies.resolves && dependencies.install) {
    problems.push_back(
        {.message = "only a build of the project's own package knows what it requires",
         .hints = {"list its dependencies in `[project]` of pyproject.toml"}});
  }
  if (work.scanned().project.has_index_credentials) {
    problems.push_back({.message = "a URL in a requirements file contains a login",
                        .hints = {"write the login into netrc, or into PIP_INDEX_URL"}});
  }
  if (!dependencies.has_requirements()) {
    problems.push_back({.message = "the project has no requirements to lock"});
  }
  throw_if_errors(problems, ErrorKind::project);
}

resolve::Question question_of(Services& services,
                              const Packaging& work,
                              const executor::PythonFacts& facts,
                              const LockChoice& choice) {
  const auto& dependencies = work.plan().dependencies;
  resolve::Question question{
      .write_files = [&work](const auto& directory) { write_inputs(work, directory); },
      .requirement_files = dependencies.requirement_files,
      .requirements = dependencies.requirements,
      .interpreter = *facts.interpreter,
      .installed = installed_in(services, work, facts),
      .exclude_newer = choice.exclude_newer};
  for (const auto* more : {&dependencies.package_requirements, &dependencies.build_requirements}) {
    question.requirements.insert(question.requirements.end(), more->begin(), more->end());
  }
  for (const auto& path : dependencies.packages) {
    question.requirements.push_back("./" + path);
  }
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

std::string toml_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  std::ranges::transform(texts, std::back_inserter(quoted),
                         [](const auto& text) { return double_quoted(text); });
  return "[" + join(quoted, ", ") + "]";
}

std::string lock_text(const Packaging& work,
                      const executor::PythonFacts& facts,
                      const resolve::Resolution& resolution) {
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
       project::inputs_of_own_lock(*work.scanned().tree, work.scanned().project)) {
    text += fmt::format("{} = {}\n", double_quoted(path), double_quoted(hash));
  }
  return text;
}

void report(Services& services,
            const executor::PythonFacts& facts,
            const resolve::Resolution& resolution,
            const std::string& took) {
  const auto provided = resolution.provided.size();
  services.reporter->done(
      "Resolved",
      fmt::format(
          "{} packages for Python {} of the executor image in {}{}", resolution.chosen + provided,
          facts.interpreter->version.str(), took,
          provided == 0 ? std::string{} : fmt::format(" ({} of them it has already)", provided)));
  for (const auto& one : resolution.replaced) {
    services.reporter->warn(Problem::warning(
        {.message = fmt::format("`{}` {} replaces the {} of the executor image", one.installed.name,
                                one.version, one.installed.version)}));
  }
}

}  // namespace

Locked resolve_requirements(Services& services,
                            const Packaging& work,
                            const executor::PythonFacts& facts,
                            const LockChoice& choice) {
  refuse_unknown(work, facts);
  PackageIndex index{services, work, facts.default_index};
  const auto uv =
      resolve::get_uv(services.environment, services.cancellation, index.client(), index.wheels());
  services.reporter->detail(fmt::format("uv {} from {}", uv.version, uv.origin));
  const auto question = question_of(services, work, facts, choice);
  const auto begin = std::chrono::steady_clock::now();
  const auto resolution = resolve::resolve(
      question, {.uv = uv,
                 .environment = services.environment,
                 .indexes = index.settings(),
                 .google_token = [&](const std::string&) { return google_token(services); },
                 .reporter = services.reporter,
                 .cancellation = services.cancellation});
  report(services, facts, resolution, elapsed_text(std::chrono::steady_clock::now() - begin));
  Locked locked{.text = lock_text(work, facts, resolution)};
  locked.versions = locked_versions(locked.text);
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
