#include "build/wheels/wheel_image.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "build/direct/assembly.hpp"
#include "build/direct/recipes.hpp"
#include "build/wheels/built_wheels.hpp"
#include "build/wheels/byte_code.hpp"
#include "build/wheels/chosen_file.hpp"
#include "build/wheels/dependency_labels.hpp"
#include "build/wheels/gpu_code.hpp"
#include "build/wheels/index_failure.hpp"
#include "build/wheels/installed_wheels.hpp"
#include "build/wheels/kept_resolution.hpp"
#include "build/wheels/locked_requirements.hpp"
#include "build/wheels/own_package.hpp"
#include "build/wheels/package_index.hpp"
#include "build/wheels/remembered_wheels.hpp"
#include "build/wheels/required_hashes.hpp"
#include "build/wheels/resolution.hpp"
#include "build/wheels/sources_of_set.hpp"
#include "build/wheels/unsatisfied.hpp"
#include "build/wheels/wheel_choice.hpp"
#include "build/wheels/wheel_layers.hpp"
#include "executor/python_facts.hpp"
#include "executor/remembered_facts.hpp"
#include "http/client.hpp"
#include "image/manifest.hpp"
#include "image/tar.hpp"
#include "index/wheel_cache.hpp"
#include "lock/direct_reference.hpp"
#include "lock/locked_set.hpp"
#include "lock/pins.hpp"
#include "lock/readers.hpp"
#include "lock/select.hpp"
#include "packaging/packaging.hpp"
#include "resolve/resolver.hpp"
#include "wheel/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// If every package is pinned to a wheel, nothing has to run for the installation: the files of
// each wheel are known. They are laid out as pip lays them out and packed into layers, without an
// engine. Whatever has to run, such as a source distribution, is an obstacle that is reported with
// the engine's way.

namespace autopack::build {

namespace {

using packaging::Packaging;

/// Returns pip settings in the executor image that affect its pip: a file or a variable, except
/// those that do not select packages. Returns nothing if there are none.
std::optional<std::string> settings_of_pip(const image::BaseFacts& base,
                                           const executor::PythonFacts& facts) {
  static constexpr std::array harmless{"PIP_NO_CACHE_DIR",     "PIP_DISABLE_PIP_VERSION_CHECK",
                                       "PIP_ROOT_USER_ACTION", "PIP_BREAK_SYSTEM_PACKAGES",
                                       "PIP_DEFAULT_TIMEOUT",  "PIP_PROGRESS_BAR",
                                       "PIP_NO_INPUT",         "PIP_CACHE_DIR",
                                       "PIP_NO_COMPILE",       "PIP_CERT",
                                       "PIP_CLIENT_CERT",      "PIP_RETRIES",
                                       "PIP_TIMEOUT",          "PIP_QUIET",
                                       "PIP_VERBOSE",          "PIP_NO_COLOR"};
  if (!facts.pip_files.empty()) {
    return facts.pip_files.front().path;
  }
  for (const auto& variable : base.environment) {
    const auto name = variable.substr(0, variable.find('='));
    if (name.starts_with("PIP_") && !contains(harmless, name)) {
      return name;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> obstacles_to_wheels(const Packaging& work) {
  const auto& plan = work.plan();
  const auto& dependencies = plan.dependencies;
  const auto& project = work.scanned().project;
  const auto& options = project.listed_options;
  const auto& variables = dependencies.install_environment;
  std::vector<std::string> obstacles;
  const auto note = [&](bool stands, const char* text) {
    if (stands) {
      obstacles.emplace_back(text);
    }
  };
  note(work.request().engine == packaging::Engine::docker, "`--engine=docker`");
  note(work.request().options.templates || plan.user_dockerfile,
       "a Dockerfile of the user's own installs them");
  for (const auto& package : dependencies.apt_packages) {
    obstacles.push_back(fmt::format("`{}` is installed with apt-get", package));
  }
  note(plan.remove_sitecustomize, "the executor image needs a file removed");
  for (const auto& requirement : dependencies.requirements) {
    if (dependencies.lock) {
      obstacles.push_back(
          fmt::format("`{}` is not in `{}`", printable(requirement), dependencies.lock->file));
    }
  }
  note(project.has_index_credentials, "a URL in a requirements file contains a login");
  note(work.request().is_from_git() &&
           std::ranges::any_of(options,
                               [](const auto& option) { return option.name == "--find-links"; }),
       "`--find-links` names files that are not on the disk");
  note(std::ranges::any_of(variables,
                           [](const auto& variable) { return variable.first.starts_with("PIP_"); }),
       "`--build-env` sets a variable of pip");
  return obstacles;
}

namespace {

/// Adds those that a resolution has not included.
void add_extra_packages(const Packaging& work, lock::LockedSet& set) {
  for (const auto& path : work.plan().dependencies.packages) {
    const bool is_there = std::ranges::any_of(set.packages, [&](const auto& package) {
      return (package.source && package.source->directory == path) ||
             (!package.files.empty() && package.files.front().path == path);
    });
    if (!is_there) {
      set.packages.push_back(lock::package_at(path, "extra-packages"));
    }
  }
}

/// Returns LockedSet::overridden of a set for `work`.
std::set<std::string> overridden_in(const Packaging& work) {
  const auto& package = work.scanned().project.package;
  return package ? package->uv.overridden : std::set<std::string>{};
}

void take_resolution(const Packaging& work, const std::string& text, Requirements& found) {
  found.set = lock::read_pylock(text, "requirements", {.interpreter = *found.facts.interpreter});
  check_required_hashes(work.scanned().project, *found.set, *found.facts.interpreter);
  found.set->overridden = overridden_in(work);
  for (auto& package : found.set->packages) {
    package.place = place_of_requirement(work.scanned().project, package.name);
  }
  found.resolved_at = KeptResolution::time_of(text);
  found.obstacles.clear();
  add_extra_packages(work, *found.set);
}

/// Returns true if pip may succeed where uv failed with `error`: not if there is no solution.
bool is_for_pip(const Error& error) {
  return error.problems().empty() && !error.causes().empty() &&
         !error.causes().front().starts_with("Because ") &&
         error.message().find("could not build ") == std::string::npos;
}

/// Returns the requirements as uv resolves them, again if they must be fresh; nothing, with an
/// obstacle, if only an engine can know it.
Requirements resolved(Services& services,
                      const Packaging& work,
                      Requirements found,
                      const WheelPolicy& policy) {
  found.set.reset();
  if (const auto problems = obstacles_to_resolution(work, found.facts, found.own);
      !problems.empty()) {
    std::ranges::transform(problems, std::back_inserter(found.obstacles),
                           [](const auto& problem) { return problem.message; });
    return found;
  }
  KeptResolution kept{services, work, found.facts, found.own};
  const bool is_anew = policy.freshness == packaging::Freshness::anew;
  if (services.repository_facts && !is_anew && !work.request().strict) {
    kept.take_remembered(*services.repository_facts, *found.facts.interpreter);
  }
  auto text = is_anew ? std::nullopt : kept.text();
  if (!text) {
    try {
      const auto locked = resolve_requirements(
          services, work, found.facts,
          {.before = kept.last(), .upgrades = is_anew, .build = policy.build, .own = found.own});
      text = kept.keep(locked.text, services.environment.get("SOURCE_DATE_EPOCH")
                                        ? image::file_time(services.environment)
                                        : std::time(nullptr));
    } catch (const resolve::BuildNeeded& error) {
      const auto causes = join(error.causes(), ", ");
      found.obstacles = {error.message() + (causes.empty() ? "" : " (" + causes + ")")};
      return found;
    } catch (Error& error) {
      if (error.kind() == ErrorKind::remote) {
        found.obstacles = {hand_over_to_pip(services, work, error)};
        return found;
      }
      if (is_for_pip(error)) {
        error.hint("`--resolver=engine` leaves the choice to pip");
      }
      throw;
    }
  }
  take_resolution(work, *text, found);
  found.remembered = kept.as_remembered(*text);
  return found;
}

}  // namespace

namespace {

/// Returns why the first package of `set` that pip has to install requires it; nothing if there is
/// none.
std::optional<std::string> obstacle_in(const lock::LockedSet& set) {
  const auto found = std::ranges::find_if(
      set.packages, [](const auto& package) { return package.obstacle.has_value(); });
  return found == set.packages.end()
             ? std::nullopt
             : std::optional{fmt::format("{}: `{}`: {}", found->place, printable(found->name),
                                         *found->obstacle)};
}

}  // namespace

Requirements find_requirements(const Packaging& work,
                               executor::PythonFacts facts,
                               FoundOwnPackage own) {
  Requirements found{.facts = std::move(facts), .own = std::move(own)};
  if (!found.facts.interpreter) {
    found.obstacles.push_back(found.facts.obstacle.value_or(""));
    return found;
  }
  if (auto setting = settings_of_pip(work.plan().base, found.facts)) {
    found.obstacles.push_back(
        fmt::format("the executor image has settings of pip, `{}`", *setting));
    return found;
  }
  if (work.plan().dependencies.lock) {
    found.set = read_locked(work, *found.facts.interpreter);
    found.set->overridden = overridden_in(work);
    require_provided(*found.set, found.facts);
  } else {
    auto of_package = work.plan().dependencies.package_requirements;
    if (const auto& package = found.own.package) {
      of_package.insert(of_package.end(), package->requirements.begin(),
                        package->requirements.end());
    }
    auto pins = lock::read_pins(work.scanned().project, *found.facts.interpreter, of_package);
    found.set = std::move(pins.set);
    found.may_resolve = work.request().resolver == packaging::Resolver::uv;
    if (found.may_resolve && !work.plan().dependencies.uv.empty()) {
      found.set.reset();  // the pins' files may be in an index that only uv asks
      pins.reason = "`[tool.uv]` of pyproject.toml names indexes or versions";
    }
    if (const auto open = found.may_resolve && found.set ? obstacle_in(*found.set) : std::nullopt) {
      found.set.reset();  // uv knows the commit of a branch
      pins.reason = *open;
    }
    if (!found.set) {
      found.obstacles.push_back(std::move(pins.reason));
      return found;
    }
  }
  add_extra_packages(work, *found.set);
  return found;
}

namespace {

using packaging::Packaging;

/// Throws Error(remote) if `wheels`, those of a resolution, require a package that is not among
/// them: uv read other metadata, which an index publishes beside a wheel.
void check_published_metadata(const Services& services,
                              const lock::LockedSet& set,
                              const std::map<std::string, Digest>& wheels,
                              const python::Interpreter& interpreter) {
  std::map<std::string, lock::Needs> needs;
  for (const auto& [name, digest] : wheels) {
    if (auto known = cached_needs(services, digest)) {
      needs[name].requirements = *std::move(known);
    }
  }
  const auto absent = lock::absent_requirements(set, needs, interpreter);
  if (!absent.empty()) {
    throw Error(ErrorKind::remote, "an index publishes other metadata than its wheels have")
        .cause(join(absent, "; "))
        .hint("inform the owner of the index; `--resolver=engine` installs with pip");
  }
}

/// Returns the image with the selection of `requirements` on `base`.
WheelImage install(Services& services,
                   const Packaging& work,
                   image::Source& base,
                   const Requirements& requirements,
                   const WheelPolicy& policy) {
  const auto& facts = requirements.facts;
  const auto index = std::make_shared<PackageIndex>(services, work, facts.default_index);
  auto [set, wheels, files, built, obstacles, is_incomplete] = choose_wheels(
      services, work, index,
      {.set = *requirements.set, .interpreter = *facts.interpreter, .policy = policy});
  const auto& own = requirements.own.package;
  if (own) {
    set.packages.insert(set.packages.end(), own->packages.begin(), own->packages.end());
  }
  WheelLayers layers{services, work, facts};
  if (work.plan().compile_bytecode) {
    layers.compile_with(find_compiler(services, work, *facts.interpreter));
  }
  if (obstacles.empty()) {
    obstacles = layers.settle(set);
  }
  if (!obstacles.empty()) {
    return {.obstacles = std::move(obstacles), .is_incomplete = is_incomplete};
  }
  for (const auto& warning : set.warnings) {
    services.reporter->warn(warning);
  }
  std::erase_if(wheels, [&](const auto& wheel) { return layers.has(wheel.name); });
  const std::size_t count = wheels.size();
  DependencyLabels labels{.wheels = count,
                          .base_packages = layers.base_packages(requirements.set->provided),
                          .compiled = compiled_here(wheels)};
  const auto fetch = [&, &where = files](const std::vector<wheel::ChosenWheel>& some) {
    std::vector<index::Download> downloads;
    for (const auto& wheel : some) {
      if (const auto found = where.find(wheel.digest); found != where.end()) {
        downloads.push_back(found->second);
      }
    }
    index->fetch(downloads, count);
  };
  std::map<std::string, Digest> digests;
  for (const auto& wheel : wheels) {
    digests.emplace(wheel.name, wheel.digest);
  }
  const auto& key = work.plan().keys.value().dependencies;
  auto installed = installed_wheels(wheels, set, files);
  record_installed_wheels(services, key, installed);
  auto above = own ? layers_of(*own, layers.place()) : std::vector<LayerRecipe>{};
  auto all =
      layers.recipes(std::move(wheels), base.manifest.layers.size(), fetch, std::move(above));
  if (requirements.resolved_at) {
    check_published_metadata(services, set, digests, *facts.interpreter);
  }
  auto made = make_layers(services, all.recipes);
  built.insert(requirements.remembered.begin(), requirements.remembered.end());
  WheelSet set_of_layers{all,
                         made,
                         layers.place(),
                         std::move(built),
                         {.dependency_key = key, .wheels = std::move(installed)}};
  if (own) {
    services.install_records.put(key, own->record);
  }
  return {.image = stack(
              services, std::move(base), made,
              configure_dependencies(work.plan(), std::move(labels), requirements.resolved_at)),
          .wheels = std::move(set_of_layers)};
}

}  // namespace

namespace {

constexpr auto* own_obstacle = "the build of the project's own package has to run: ";

}  // namespace

namespace {

/// Returns the file that `files` choose for `package`; nothing if its size is not known.
std::optional<ExpectedInstallation::Sized> sized(const lock::LockedPackage& package,
                                                 const lock::FileChooser& files) {
  const auto selection = files.choose(package);
  const auto place = selection.chosen ? selection.chosen : selection.source;
  if (!place || !package.version || !package.files.at(*place).size) {
    return std::nullopt;
  }
  const auto& file = package.files[*place];
  const auto url = file.url ? Url::parse(*file.url) : std::nullopt;
  return ExpectedInstallation::Sized{.name = package.name,
                                     .version = package.version->str(),
                                     .host = url ? url->host : std::string{},
                                     .size = *file.size};
}

/// Returns the packages that require each package of `set`, by its name, as far as this machine has
/// seen their wheels.
std::map<std::string, std::set<std::string>> known_requirers(
    const Services& services, const lock::LockedSet& set, const python::Interpreter& interpreter) {
  const lock::FileChooser files{interpreter};
  std::map<std::string, lock::Needs> needs;
  for (const auto& package : set.packages) {
    const auto chosen = files.choose(package).chosen;
    const auto digest = chosen ? only_digest(package.files.at(*chosen).hashes) : std::nullopt;
    if (auto known = digest ? cached_needs(services, *digest) : std::nullopt) {
      needs[package.name].requirements = *std::move(known);
    }
  }
  return lock::requirers(set, needs, interpreter);
}

/// Returns true if the source that `files` choose for `package` was seen to need no build.
bool is_plain_source(const Services& services,
                     const Packaging& work,
                     const lock::LockedPackage& package,
                     const lock::FileChooser& files) {
  if (package.source && package.source->directory) {
    const auto identity = identity_of_directory(work, *package.source->directory);
    return identity && was_made_without_build(services, *identity);
  }
  if (package.source || package.files.empty()) {
    return false;
  }
  const auto place = files.choose(package).source;
  const auto& file = package.files[place.value_or(0)];
  return place && std::ranges::any_of(file.hashes, [&](const auto& hash) {
           return hash.algorithm == "sha256" &&
                  was_made_without_build(services, archive_identity(file.name, hash.hex));
         });
}

}  // namespace

ExpectedInstallation expected_installation(Services& services, const Packaging& work) {
  ExpectedInstallation expected{.obstacles = obstacles_to_wheels(work)};
  auto facts = executor::known_python(services, work.plan().base);
  if (!facts) {
    facts = executor::remembered_python(services, work.plan().base);
  }
  if (!expected.obstacles.empty() || !facts) {
    return expected;
  }
  auto own = reason_to_build_own_package(work) && facts->interpreter
                 ? find_own_package(services, work, *facts, {})
                 : FoundOwnPackage{};
  auto found = find_requirements(work, std::move(*facts), std::move(own));
  const auto& dependencies = work.plan().dependencies;
  if (found.own.obstacle) {
    if (!found.own.may_be_built || !work.request().may_use_engine()) {
      expected.obstacles.push_back(own_obstacle + *found.own.obstacle);
      return expected;
    }
    expected.built.emplace_back("the project's own package");
    if (dependencies.resolves && found.may_resolve) {
      expected.resolves = true;
      return expected;
    }
  }
  if (found.may_resolve && !found.set &&
      obstacles_to_resolution(work, found.facts, found.own).empty()) {
    if (const auto text = KeptResolution{services, work, found.facts, found.own}.text()) {
      take_resolution(work, *text, found);
    } else {
      expected.resolves = true;
      return expected;
    }
  }
  expected.obstacles = std::move(found.obstacles);
  if (!found.set) {
    return expected;
  }
  if (work.plan().compile_bytecode) {
    const auto here = find_compiler_here(services, *found.facts.interpreter);
    expected.byte_code =
        here ? here->words : "the executor image's own Python, in the docker engine";
  }
  expected.packages = found.set->packages.size();
  expected.own = dependencies.install;
  expected.own_is_built = reason_to_build_own_package(work).has_value();
  const lock::FileChooser files{*found.facts.interpreter};
  const auto requirers = known_requirers(services, *found.set, *found.facts.interpreter);
  for (const auto& package : found.set->packages) {
    if (auto obstacle = obstacle_of(package, files)) {
      expected.obstacles.push_back(std::move(*obstacle));
    } else if (const auto kind = is_plain_source(services, work, package, files)
                                     ? std::nullopt
                                     : kind_of_source(package, files)) {
      const auto& name = package.name.empty() && package.source
                             ? package.source->directory.value_or(package.source->repository)
                             : package.name;
      expected.built.push_back(fmt::format("`{}` ({})", printable(name), *kind));
    }
    const auto chosen = files.choose(package).chosen;
    const auto digest = chosen ? only_digest(package.files.at(*chosen).hashes) : std::nullopt;
    if (digest && package.version) {
      expected.wheels.push_back(
          {.name = package.name, .version = package.version->str(), .digest = *digest});
    }
    if (auto one = sized(package, files)) {
      if (const auto names = requirers.find(package.name); names != requirers.end()) {
        one->required_by.assign(names->second.begin(), names->second.end());
      }
      expected.sized.push_back(*std::move(one));
    }
  }
  return expected;
}

WheelImage make_wheel_image(Services& services,
                            const Packaging& work,
                            image::Source base,
                            const WheelPolicy& policy) {
  if (auto obstacles = obstacles_to_wheels(work); !obstacles.empty()) {
    return {.obstacles = std::move(obstacles)};
  }
  const auto& executor = work.plan().base;
  if (services.repository_facts && executor.digest) {
    services.repository_facts->read(*executor.digest, work.plan().platform);
  }
  auto facts = executor::python_facts(services, executor, executor::image_places(work.request()));
  auto own =
      facts.interpreter ? find_own_package(services, work, facts, policy) : FoundOwnPackage{};
  auto requirements = find_requirements(work, std::move(facts), std::move(own));
  if (requirements.own.obstacle) {
    return {.obstacles = {own_obstacle + *requirements.own.obstacle}};
  }
  if (requirements.may_resolve && !requirements.set) {
    requirements = resolved(services, work, std::move(requirements), policy);
  }
  if (!requirements.set) {
    return {.obstacles = requirements.obstacles};
  }
  if (work.request().strict) {
    services.repository_facts.reset();  // layers are made to verify the remembered facts
  }
  const auto installed = [&] {
    try {
      return install(services, work, base, requirements, policy);
    } catch (const OtherWheel& other) {
      services.reporter->detail(other.message());
      services.repository_facts.reset();
      return install(services, work, base, requirements, policy);
    }
  };
  try {
    auto made = installed();
    if (made.is_incomplete && requirements.may_resolve) {
      requirements = resolved(services, work, std::move(requirements), policy);
      if (requirements.set) {
        made = installed();
      }
    }
    return made;
  } catch (const http::TransportError& error) {
    return {.obstacles = {hand_over_to_pip(services, work, error)}};
  }
}

}  // namespace autopack::build
