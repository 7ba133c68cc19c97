#include "build/wheels/installed_packages.hpp"

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
#include "plan/install_record.hpp"
#include "project/findings.hpp"
#include "python/marker.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"
#include "wheel/texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::build {

namespace {

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

}  // namespace

InstalledPackages::InstalledPackages(Services& services,
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

std::optional<OwnPackage> InstalledPackages::find(const python::Interpreter& interpreter) const {
  const auto file = ChosenFile::read(services_.wheel_records.get(key_).value_or(""));
  const auto record = services_.install_records.get(key_);
  const auto parsed = record ? plan::parse_install_record(*record) : std::nullopt;
  const auto cached = file ? wheels_.find(file->digest.hex()) : std::nullopt;
  if (!parsed || !cached || plan::why_outdated(*parsed, work_.plan())) {
    return std::nullopt;
  }
  OwnPackage own{.files = cached, .record = *record};
  describe(own, interpreter);
  return own;
}

OwnPackage InstalledPackages::install(const InstallOwn& install_own,
                                      const python::Interpreter& interpreter) const {
  const auto start = std::chrono::steady_clock::now();
  const auto place = services_.environment.cache_directory() / "installed.tar";
  sweep_leftovers(place);
  const NewFile tar{place, FileMode::secret};
  OwnPackage own{.record = install_own(tar.path())};
  own.files =
      wheels_.add([&](const index::WheelCache::Take& out) { read_in_pieces(tar.path(), out); });
  describe(own, interpreter);
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

void InstalledPackages::describe(OwnPackage& own, const python::Interpreter& interpreter) const {
  const auto all = metadata_in(own.files.value().path);
  if (all.empty()) {
    throw Error(ErrorKind::project, "the build of the project's own package writes no metadata");
  }
  for (const auto& one : all) {
    own.packages.push_back(own_locked_package(one.name, one.version, "setup.py"));
  }
  const auto& dependencies = work_.plan().dependencies;
  if (dependencies.resolves) {
    own.requirements = requirements_in(all, interpreter, dependencies.package_extras);
  }
}

lock::LockedPackage own_locked_package(const std::string& name,
                                       const std::string& version,
                                       const std::string& place) {
  return {.name = python::normalise_name(name),
          .version = python::Version::parse(version),
          .source = lock::LockedSource{.directory = "."},
          .requested = true,
          .place = place};
}

}  // namespace autopack::build
