#include "build/wheels/own_package.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "image/tar.hpp"
#include "plan/install_record.hpp"
#include "project/package/static_installation.hpp"
#include "python/name.hpp"
#include "wheel/wheel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace

std::optional<std::string> obstacle_to_own_package(const packaging::Packaging& work) {
  const auto& dependencies = work.plan().dependencies;
  if (!dependencies.install) {
    return std::nullopt;
  }
  if (!dependencies.install_environment.empty()) {
    return "a variable of `--build-env` may change its build";
  }
  return installation_of(work).reason;
}

std::optional<OwnPackage> make_own_package(const packaging::Packaging& work,
                                           const index::WheelCache& wheels) {
  const auto& plan = work.plan();
  if (!plan.dependencies.install) {
    return std::nullopt;
  }
  const auto installation = installation_of(work);
  if (installation.reason) {
    throw Error(ErrorKind::internal, "the project's package has to be built")
        .cause(*installation.reason);
  }
  const auto& [name, version] = std::pair{installation.name, installation.version};
  const auto text = wheel::wheel_text(name, version, files_of(installation));
  const auto cached = wheels.add([&](const index::WheelCache::Take& out) { out(text); });
  const auto normal = python::normalise_name(name);
  return OwnPackage{.package = {.name = normal,
                                .version = python::Version::parse(version),
                                .source = lock::LockedSource{.directory = "."},
                                .requested = true,
                                .place = "pyproject.toml"},
                    .wheel = {.name = normal,
                              .digest = Digest::parse("sha256:" + cached.sha256).value(),
                              .size = cached.size,
                              .file_name = wheel::wheel_stem(name, version) + "-py3-none-any.whl",
                              .options = {.is_requested = true, .direct_url = direct_url},
                              .file = [path = cached.path] { return path; }},
                    .record = plan::write_install_record(plan, installation.looked,
                                                         work.scanned().project.package->backend)};
}

std::vector<LayerRecipe> layers_of(const OwnPackage& own, const wheel::Place& place) {
  const auto wheels = std::make_shared<const std::vector<wheel::ChosenWheel>>(1, own.wheel);
  const wheel::LayerGroup group{.wheels = {0}};
  LayerRecipe package{.name = own.wheel.name,
                      .created_by = "autopack: the project's own package, " + own.wheel.name,
                      .key = wheel::layer_key(group, *wheels, place),
                      .size = own.wheel.size};
  package.write = [group, wheels, place](const image::LayerWriter::Take& out,
                                         const std::optional<image::LayerFacts>& known) {
    return wheel::write_layer(group, *wheels, place, out, known);
  };
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
  return {std::move(package), std::move(record)};
}

}  // namespace autopack::build
