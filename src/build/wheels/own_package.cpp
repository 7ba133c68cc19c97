#include "build/wheels/own_package.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "build/wheels/installed_packages.hpp"
#include "build/wheels/package_index.hpp"
#include "image/tar.hpp"
#include "plan/install_record.hpp"
#include "project/package/static_installation.hpp"
#include "python/name.hpp"
#include "wheel/wheel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace autopack::build {

namespace {

constexpr std::string_view app{"/usr/app"};
constexpr auto* direct_url = R"({"dir_info": {"editable": true}, "url": "file:///usr/app"})";

/// Finds only the project's top-level modules, after everything that is installed. Lines of its
/// table go between this and its end.
constexpr std::string_view finder = R"(

class Finder:
    """Finds the project's own modules in place, and nothing beside them."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return PathFinder.find_spec(name, [DIRECTORY], target) if name in MODULES else None


def install():
    if Finder not in sys.meta_path:
        sys.meta_path.append(Finder)
)";

std::string place_of(const std::string& directory) {
  return directory.empty() ? std::string{app} : fmt::format("{}/{}", app, directory);
}

/// Returns a Python string literal.
std::string quoted(const std::string& text) {
  return "'" + replace_all(replace_all(text, R"(\)", R"(\\)"), "'", R"(\')") + "'";
}

std::string finder_text(const project::StaticInstallation& installation) {
  std::vector<std::string> names;
  for (const auto& name : installation.top_level) {
    names.push_back(quoted(name));
  }
  return fmt::format(
      "import sys\nfrom importlib.machinery import PathFinder\n\nDIRECTORY = {}\nMODULES = "
      "{{{}}}\n{}",
      quoted(place_of(installation.directory)), join(names, ", "), finder);
}

/// Adds the file that lets Python find the modules.
void add_path(const project::StaticInstallation& installation,
              const std::string& stem,
              std::map<std::string, std::string>& files) {
  const std::string path = fmt::format("__editable__.{}.pth", stem);
  if (!installation.finds_top_level_only) {
    files[path] = place_of(installation.directory) + "\n";
    return;
  }
  std::string module = fmt::format("__editable___{}_finder", stem);
  std::replace_if(
      module.begin(), module.end(),
      [](char c) {
        return !is_alphanumeric({&c, 1}, "_");
      },
      '_');
  files[path] = fmt::format("import {0}; {0}.install()\n", module);
  files[module + ".py"] = finder_text(installation);
}

std::map<std::string, std::string> files_of(const project::StaticInstallation& installation) {
  const auto stem = wheel::wheel_stem(installation.name, installation.version);
  const std::string info = stem + ".dist-info/";
  std::map<std::string, std::string> files{{info + "METADATA", installation.metadata}};
  if (installation.entry_points) {
    files[info + "entry_points.txt"] = *installation.entry_points;
  }
  for (const auto& [path, text] : installation.licenses) {
    files[fmt::format("{}licenses/{}", info, path)] = text;
  }
  for (const auto& name : installation.top_level) {
    files[info + "top_level.txt"] += name + "\n";
  }
  add_path(installation, stem, files);
  return files;
}

project::StaticInstallation installation_of(const packaging::Packaging& work) {
  return project::static_installation(work.plan().working_directory(), work.scanned().project);
}

OwnPackage made_of_files(const packaging::Packaging& work, const index::WheelCache& wheels) {
  const auto& plan = work.plan();
  const auto installation = installation_of(work);
  const auto& [name, version] = std::pair{installation.name, installation.version};
  const auto text = wheel::wheel_text(name, version, files_of(installation));
  const auto cached = wheels.add([&](const index::WheelCache::Take& out) { out(text); });
  const auto normal = python::normalise_name(name);
  return {.packages = {own_locked_package(name, version, "pyproject.toml")},
          .wheel = wheel::ChosenWheel{.name = normal,
                                      .digest = Digest::parse("sha256:" + cached.sha256).value(),
                                      .size = cached.size,
                                      .file_name =
                                          wheel::wheel_stem(name, version) + "-py3-none-any.whl",
                                      .options = {.is_requested = true, .direct_url = direct_url},
                                      .file = [path = cached.path] { return path; }},
          .record = plan::write_install_record(plan, installation.looked,
                                               work.scanned().project.package->backend)};
}

/// Returns why its build cannot run before the requirements are installed.
std::optional<std::string> obstacle_to_build_alone(const packaging::Packaging& work) {
  const auto& plan = work.plan();
  if (!plan.dependencies.isolated) {
    const auto& package = work.scanned().project.package;
    return fmt::format("setup.py imports {}, which must be installed before its build",
                       package && package->missing_import
                           ? "`" + printable(*package->missing_import) + "`"
                           : "installed packages");
  }
  if (plan.dependencies.install_environment.empty()) {
    return std::nullopt;
  }
  return "a variable of `--build-env` may change its build";
}

LayerRecipe package_layer(const OwnPackage& own, const wheel::Place& place) {
  LayerRecipe package{
      .name = own.packages.front().name,
      .created_by = "autopack: the project's own package, " + own.packages.front().name};
  if (own.wheel) {
    const auto wheels = std::make_shared<const std::vector<wheel::ChosenWheel>>(1, *own.wheel);
    const wheel::LayerGroup group{.wheels = {0}};
    package.key = wheel::layer_key(group, *wheels, place);
    package.size = own.wheel->size;
    package.write = [group, wheels, place](const image::LayerWriter::Take& out,
                                           const std::optional<image::LayerFacts>& known) {
      return wheel::write_layer(group, *wheels, place, out, known);
    };
  } else {
    package.key = sha256("installed " + own.files.value().sha256).hex();
    package.size = own.files->size;
    package.write = compressed([path = own.files->path](const image::LayerWriter::Take& out) {
      read_in_pieces(path, out);
    });
  }
  return package;
}

}  // namespace

std::optional<std::string> reason_to_build_own_package(const packaging::Packaging& work) {
  const auto& dependencies = work.plan().dependencies;
  if (!dependencies.install) {
    return std::nullopt;
  }
  if (!dependencies.install_environment.empty()) {
    return "a variable of `--build-env` may change its build";
  }
  return installation_of(work).reason;
}

FoundOwnPackage find_own_package(Services& services,
                                 const packaging::Packaging& work,
                                 const executor::PythonFacts& facts,
                                 const WheelPolicy& policy) {
  if (!work.plan().dependencies.install) {
    return {};
  }
  PackageIndex index{services, work, facts.default_index};
  const auto reason = reason_to_build_own_package(work);
  if (!reason) {
    return {.package = made_of_files(work, index.wheels())};
  }
  if (auto obstacle = obstacle_to_build_alone(work)) {
    return {.obstacle = std::move(obstacle)};
  }
  const InstalledPackages installed{services, work, index.wheels()};
  const bool is_anew = policy.freshness == packaging::Freshness::anew && policy.install_own;
  try {
    auto own = is_anew ? std::nullopt : installed.find(*facts.interpreter);
    if (!own && !policy.install_own) {
      return {.obstacle = *reason, .may_be_built = true};
    }
    return {.package =
                own ? std::move(own) : installed.install(policy.install_own, *facts.interpreter)};
  } catch (const Error& error) {
    return {.obstacle = fmt::format("{}; its build alone failed: {}", *reason, error.message())};
  }
}

std::vector<std::string> lists_read_by_build(const OwnPackage& own) {
  static constexpr std::array<std::string_view, 4> endings{".txt", ".in", ".toml", ".cfg"};
  const auto record = plan::parse_install_record(own.record);
  std::vector<std::string> paths;
  for (const auto& fact : record ? record->reads : std::vector<plan::InstallRecord::Fact>{}) {
    if (own.files && std::ranges::any_of(
                         endings, [&](const auto ending) { return fact.path.ends_with(ending); })) {
      paths.push_back(fact.path);
    }
  }
  return paths;
}

std::vector<LayerRecipe> layers_of(const OwnPackage& own, const wheel::Place& place) {
  LayerRecipe record{.name = "installation record",
                     .created_by = "autopack: what the project's own package was made from",
                     .key = sha256(fmt::format("record {} {}", place.time, own.record)).hex(),
                     .size = own.record.size()};
  record.write = compressed([text = own.record, place](const image::LayerWriter::Take& out) {
    image::TarWriter tar{out, place.time};
    for (const char* const directory : {"usr", "usr/share", "usr/share/autopack"}) {
      if (!place.directories.contains(directory)) {
        tar.add_directory(directory);
      }
    }
    tar.add_file("usr/share/autopack/install.json", 0644, text);
    tar.finish();
  });
  return {package_layer(own, place), std::move(record)};
}

}  // namespace autopack::build
