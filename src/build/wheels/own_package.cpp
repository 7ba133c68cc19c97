#include "build/wheels/own_package.hpp"

#include "base/contains.hpp"
#include "base/digest.hpp"
#include "base/elapsed.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "build/wheels/built_wheels.hpp"
#include "build/wheels/chosen_file.hpp"
#include "image/archive_reader.hpp"
#include "image/tar.hpp"
#include "plan/install_record.hpp"
#include "project/findings.hpp"
#include "project/package/static_installation.hpp"
#include "python/marker.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"
#include "wheel/texts.hpp"
#include "wheel/wheel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
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

lock::LockedPackage package_of(const std::string& name,
                               const std::string& version,
                               const std::string& place) {
  return {.name = python::normalise_name(name),
          .version = python::Version::parse(version),
          .source = lock::LockedSource{.directory = "."},
          .requested = true,
          .place = place};
}

OwnPackage made_of_files(const packaging::Packaging& work, const index::WheelCache& wheels) {
  const auto& plan = work.plan();
  const auto installation = installation_of(work);
  const auto& [name, version] = std::pair{installation.name, installation.version};
  const auto text = wheel::wheel_text(name, version, files_of(installation));
  const auto cached = wheels.add([&](const index::WheelCache::Take& out) { out(text); });
  const auto normal = python::normalise_name(name);
  return {.packages = {package_of(name, version, "pyproject.toml")},
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

/// Installs own packages by their build. Caches the files that this writes, and what it reads.
class InstalledPackages {
public:
  InstalledPackages(Services& services,
                    const packaging::Packaging& work,
                    const index::WheelCache& wheels)
      : services_{services}, work_{work}, wheels_{wheels} {
    const auto& plan = work.plan();
    const auto& dependencies = plan.dependencies;
    auto inputs = fmt::format("{}\n{}\n{}\n{}", inputs_of_builds(services, work),
                              join(dependencies.members, "\n"), dependencies.installs_root,
                              dependencies.version.value_or(""));
    for (const auto& [name, value] : dependencies.build_environment) {
      inputs += fmt::format("\n{}={}", name, value);
    }
    for (const auto& entry : plan.code) {
      if (contains(work.scanned().project.package->files, entry.path) && entry.content) {
        inputs += fmt::format("\n{} {}", entry.path, entry.content->hex());
      }
    }
    key_ = "own-package " + sha256(inputs).hex();
  }

  /// Returns nothing if they were not installed yet, or from other files.
  std::optional<OwnPackage> find() const {
    const auto file = ChosenFile::read(services_.wheel_records.get(key_).value_or(""));
    const auto record = services_.install_records.get(key_);
    const auto parsed = record ? plan::parse_install_record(*record) : std::nullopt;
    const auto cached = file ? wheels_.find(file->digest.hex()) : std::nullopt;
    if (!parsed || !cached || plan::why_outdated(*parsed, work_.plan())) {
      return std::nullopt;
    }
    return OwnPackage{.files = cached, .record = *record};
  }

  OwnPackage install(const InstallOwn& install_own) const {
    const auto start = std::chrono::steady_clock::now();
    const auto place = services_.environment.cache_directory() / "installed.tar";
    sweep_leftovers(place);
    const NewFile tar{place, FileMode::secret};
    OwnPackage own{.record = install_own(tar.path())};
    own.files =
        wheels_.add([&](const index::WheelCache::Take& out) { read_in_pieces(tar.path(), out); });
    services_.install_records.put(key_, own.record);
    services_.wheel_records.put(
        key_, ChosenFile{.name = "installed.tar",
                         .digest = Digest::parse("sha256:" + own.files->sha256).value(),
                         .size = own.files->size}
                  .text());
    services_.reporter->done("Built", "the project's own package in " +
                                          elapsed_text(std::chrono::steady_clock::now() - start));
    return own;
  }

private:
  Services& services_;
  const packaging::Packaging& work_;
  const index::WheelCache& wheels_;
  std::string key_;
};

/// Returns the lines of a requires.txt, setuptools' form before core metadata, as requirements: a
/// section names an extra, a marker, or both: `[gpu:python_version < "3.9"]`.
std::vector<std::string> read_requires(std::string_view text) {
  std::vector<std::string> requirements;
  std::vector<std::string> conditions;
  for (const auto& line : split(text, '\n')) {
    const std::string word{trim(line)};
    if (word.starts_with('[') && word.ends_with(']')) {
      const auto section = word.substr(1, word.size() - 2);
      const auto colon = std::min(section.find(':'), section.size());
      conditions.clear();
      if (colon > 0) {
        conditions.push_back(fmt::format("extra == {}", double_quoted(section.substr(0, colon))));
      }
      if (colon + 1 < section.size()) {
        conditions.push_back(fmt::format("({})", section.substr(colon + 1)));
      }
    } else if (!word.empty()) {
      requirements.push_back(conditions.empty() ? word : word + " ; " + join(conditions, " and "));
    }
  }
  return requirements;
}

std::string whole(const image::Reader& content, std::uint64_t size) {
  std::string text(size, '\0');
  std::size_t there = 0;
  while (const auto count = content(text.data() + there, text.size() - there)) {
    there += count;
  }
  text.resize(there);
  return text;
}

/// Returns the metadata of each distribution in a tar: from its dist-info, else from the egg-info
/// that an old pip leaves.
std::vector<wheel::Metadata> metadata_in(const std::filesystem::path& tar) {
  constexpr std::uint64_t largest_metadata{16'000'000};
  std::map<std::string, std::string> texts;
  std::ifstream in{tar, std::ios::binary};
  image::read_plain_contents(
      [&](char* bytes, std::size_t size) {
        in.read(bytes, static_cast<std::streamsize>(size));
        return static_cast<std::size_t>(in.gcount());
      },
      tar.string(),
      [&](const image::ArchiveEntry& entry, const image::Reader& content) {
        const bool is_info = entry.path.ends_with(".dist-info/METADATA") ||
                             entry.path.ends_with(".egg-info/PKG-INFO") ||
                             entry.path.ends_with(".egg-info/requires.txt");
        if (is_info && entry.size <= largest_metadata) {
          texts[entry.path] = whole(content, entry.size);
        }
      });
  std::map<std::string, wheel::Metadata> found;
  for (const std::string_view file : {"/METADATA", "/PKG-INFO"}) {
    for (const auto& [path, text] : texts) {
      if (!path.ends_with(file)) {
        continue;
      }
      auto metadata = wheel::read_metadata(text);
      const auto listed = texts.find(path.substr(0, path.rfind('/')) + "/requires.txt");
      if (listed != texts.end()) {
        metadata.requires_dist = read_requires(listed->second);
      }
      found.try_emplace(python::normalise_name(metadata.name), std::move(metadata));
    }
  }
  std::vector<wheel::Metadata> all;
  std::ranges::transform(found, std::back_inserter(all),
                         [](auto& one) { return std::move(one.second); });
  return all;
}

/// Returns what the packages in `all` require of others. The extras of a requirement that names one
/// of them are added to `extras`.
std::vector<std::string> requirements_in(const std::vector<wheel::Metadata>& all,
                                         const python::Interpreter& interpreter,
                                         const std::vector<std::string>& extras) {
  auto environment = python::marker_environment(interpreter);
  std::ranges::transform(extras, std::back_inserter(environment.extras), python::normalise_name);
  std::set<std::string> names;
  for (const auto& one : all) {
    names.insert(python::normalise_name(one.name));
  }
  std::vector<std::string> requirements;
  for (std::size_t known = 0; known != environment.extras.size() + 1;) {
    known = environment.extras.size() + 1;
    requirements.clear();
    for (const auto& one : all) {
      for (const auto& text : one.requires_dist) {
        const auto requirement = python::parse_requirement(text);
        const auto marker =
            requirement.marker ? python::Marker::parse(*requirement.marker) : std::nullopt;
        const auto holds = marker ? marker->holds_in(environment) : std::nullopt;
        if (holds == false) {
          continue;
        }
        if (names.contains(requirement.name.value_or(""))) {
          environment.extras.insert(environment.extras.end(), requirement.extras.begin(),
                                    requirement.extras.end());
        } else {
          requirements.emplace_back(holds ? trim(text.substr(0, text.rfind(';'))) : text);
        }
      }
    }
    project::sort_unique(environment.extras);
  }
  return requirements;
}

/// Adds names, versions and requirements to the `own` packages, whose files are there. Throws
/// Error(project) if they are not as an installation leaves them.
void describe(OwnPackage& own,
              const python::Interpreter& interpreter,
              const std::vector<std::string>& extras) {
  const auto all = metadata_in(own.files.value().path);
  if (all.empty()) {
    throw Error(ErrorKind::project, "the build of the project's own package writes no metadata");
  }
  for (const auto& one : all) {
    own.packages.push_back(package_of(one.name, one.version, "setup.py"));
  }
  own.requirements = requirements_in(all, interpreter, extras);
}

/// Returns why its build cannot run before the requirements are installed.
std::optional<std::string> obstacle_to_build_alone(const plan::Plan& plan) {
  if (!plan.dependencies.isolated) {
    return "its build sees the installed packages";
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
                                 const python::Interpreter& interpreter,
                                 const index::WheelCache& wheels,
                                 const WheelPolicy& policy) {
  if (!work.plan().dependencies.install) {
    return {};
  }
  const auto reason = reason_to_build_own_package(work);
  if (!reason) {
    return {.package = made_of_files(work, wheels)};
  }
  if (auto obstacle = obstacle_to_build_alone(work.plan())) {
    return {.obstacle = std::move(obstacle)};
  }
  const InstalledPackages installed{services, work, wheels};
  const bool is_anew = policy.freshness == packaging::Freshness::anew && policy.install_own;
  auto own = is_anew ? std::nullopt : installed.find();
  if (!own && !policy.install_own) {
    return {.obstacle = *reason, .may_be_built = true};
  }
  try {
    if (!own) {
      own = installed.install(policy.install_own);
    }
    describe(*own, interpreter, work.plan().dependencies.package_extras);
  } catch (const Error& error) {
    return {.obstacle =
                fmt::format("{}, and it cannot be built before its requirements are there: {}",
                            *reason, error.message())};
  }
  return {.package = std::move(own)};
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
