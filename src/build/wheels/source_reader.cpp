#include "build/wheels/source_reader.hpp"

#include "base/contains.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "build/wheels/direct_url.hpp"
#include "build/wheels/index_versions.hpp"
#include "build/wheels/local_files.hpp"
#include "build/wheels/remembered_wheels.hpp"
#include "build/wheels/sources_of_set.hpp"
#include "build/wheels/static_source.hpp"
#include "build/wheels/unsatisfied.hpp"
#include "lock/file_names.hpp"
#include "lock/locked_set.hpp"
#include "lock/readers.hpp"
#include "lock/select.hpp"
#include "python/version.hpp"
#include "python/wheel_name.hpp"
#include "wheel/texts.hpp"
#include "wheel/wheel.hpp"

#include <algorithm>
#include <utility>

namespace autopack::build {

namespace {

/// Returns the requirement of `work` that has the source of `package`, as `requirements.txt:3`.
std::string place_of_source(const packaging::Packaging& work, const lock::LockedPackage& package) {
  const auto& project = work.scanned().project;
  const auto path = package.source          ? package.source->directory
                    : package.files.empty() ? std::nullopt
                                            : package.files.front().path;
  for (const auto& listed : project.listed_requirements) {
    const auto& target = listed.requirement.target;
    if ((path && target == *path) ||
        (package.source && !path && target.find(package.source->repository) != std::string::npos)) {
      return listed.origin;
    }
  }
  return place_of_requirement(project, package.name);
}

/// Returns the file of `package`, which is now cached; nothing if it has none.
std::optional<ChosenFile> fetched(const packaging::Packaging& work,
                                  PackageIndex& index,
                                  const lock::LockedPackage& package) {
  if (package.source || package.files.empty()) {
    return std::nullopt;
  }
  const auto& file = package.files.front();
  const auto cached = file.path ? cache_local_file(work, index.wheels(), file)
                                : index.wheels().get(download_of(file));
  return ChosenFile{.name = file.name,
                    .url = file.path ? url_in_build(*file.path) : file.url.value_or(""),
                    .digest = Digest::parse("sha256:" + cached.sha256).value(),
                    .size = cached.size};
}

}  // namespace

SourceReader::SourceReader(Services& services,
                           const packaging::Packaging& work,
                           std::shared_ptr<PackageIndex> index,
                           const BuildWheel& build)
    : services_{services},
      work_{work},
      index_{std::move(index)},
      built_{services, work, index_->wheels(), {.build = build}} {}

std::optional<std::vector<std::string>> SourceReader::requirements(
    const std::string& name, const std::string& version) const {
  const auto& plan = work_.plan();
  if (!is_of_pip_indexes(plan.dependencies.uv, name)) {
    return std::nullopt;
  }
  for (const auto& candidate : index_->client().candidates(name)) {
    const auto parts = lock::parse_source_name(candidate.name);
    if (!parts || parts->second != python::Version::parse(version)) {
      continue;
    }
    const auto file = index_->wheels().get({.name = candidate.name,
                                            .url = candidate.url,
                                            .hashes = candidate.hashes,
                                            .size = candidate.size});
    if (auto found = static_requirements(file.path)) {
      return found;
    }
    const lock::LockedPackage package{.name = name,
                                      .version = parts->second,
                                      .place = place_of_requirement(work_.scanned().project, name)};
    const auto built = metadata_of(
        name, source_of_archive(index_, package,
                                {.name = candidate.name,
                                 .url = candidate.url,
                                 .digest = Digest::parse("sha256:" + file.sha256).value(),
                                 .size = file.size}));
    return built ? std::optional{built->requires_dist} : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::vector<resolve::SourceMetadata>> SourceReader::metadata_of(
    const std::string& lock,
    const std::vector<std::string>& names,
    const python::Interpreter& interpreter) const {
  auto set = lock::read_pylock(lock, "requirements", {.interpreter = interpreter});
  std::erase_if(set.packages, [&](const auto& package) { return !contains(names, package.name); });
  if (set.packages.size() != names.size()) {
    return std::nullopt;
  }
  std::vector<std::optional<ChosenFile>> files;
  for (auto& package : set.packages) {
    package.place = place_of_source(work_, package);
    package.version.reset();  // an assumption
    files.push_back(fetched(work_, *index_, package));
    if (!package.source && !files.back()) {
      return std::nullopt;
    }
  }
  const auto sources = sources_of(work_, index_, set, files);
  std::vector<resolve::SourceMetadata> all(names.size());
  for (std::size_t i = 0; i < set.packages.size(); ++i) {
    const auto& name = set.packages[i].name;
    const auto source = sources.found.find(i);
    auto metadata =
        source == sources.found.end() ? std::nullopt : metadata_of(name, source->second);
    if (!metadata) {
      return std::nullopt;
    }
    const auto place = std::ranges::find(names, name) - names.begin();
    all[static_cast<std::size_t>(place)] = {.name = metadata->name,
                                            .version = metadata->version,
                                            .requirements = std::move(metadata->requires_dist)};
  }
  return all;
}

/// Returns the metadata of the wheel of `source`, which has that `name`; nothing if it has to be
/// built, and there is no engine.
std::optional<wheel::Metadata> SourceReader::metadata_of(const std::string& name,
                                                         const WheelSource& source) const {
  auto file = built_.find(source);
  if (const auto remembered = file ? std::nullopt : built_.remembered(source)) {
    const auto said = python::WheelName::parse(remembered->name).value();
    return wheel::Metadata{
        .name = said.name,
        .version = said.version.str(),
        .requires_dist = remembered_wheels(services_).at(remembered->digest).needs.value()};
  }
  if (!file && !built_.can_build()) {
    return std::nullopt;
  }
  try {
    file = file ? file : built_.build(source);
  } catch (Error& error) {
    if (error.kind() == ErrorKind::environment) {
      return std::nullopt;  // there is no engine
    }
    for (const auto& remedy : remedies_for_name(name)) {
      error.hint(remedy);
    }
    throw;
  }
  const auto cached = index_->wheels().find(file->digest.hex());
  return cached ? std::optional{wheel::Wheel::open(cached->path, file->name).metadata()}
                : std::nullopt;
}

}  // namespace autopack::build
