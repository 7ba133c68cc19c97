#include "build/wheels/sources_of_set.hpp"

#include "base/text.hpp"
#include "build/wheels/local_files.hpp"
#include "lock/file_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::build {

namespace {

constexpr auto* archive_kind = "a source distribution";
constexpr auto* directory_kind = "a directory of sources";
constexpr auto* repository_kind = "a commit of a repository";

WheelSource source_of_repository(const lock::LockedPackage& package) {
  const auto& source = *package.source;
  const auto& url = source.repository;
  const auto end = url.find_last_not_of('/') + 1;
  auto name = url.substr(0, end).substr(url.rfind('/', end - 1) + 1);
  // Its path during a build is only a name.
  name = is_alphanumeric(name, "-_.") && !name.starts_with('.') ? name : "repository";
  return {.title = fmt::format("`{}`", printable(url)),
          .kind = repository_kind,
          .place = package.place,
          .identity = fmt::format("commit {} {} {}", source.commit, source.subdirectory, url),
          .name = source.subdirectory.empty() ? name : name + "/" + source.subdirectory,
          .repository = source};
}

}  // namespace

std::string archive_identity(const std::string& file, const std::string& sha256) {
  return fmt::format("archive {} {}", file, sha256);
}

WheelSource source_of_archive(const std::shared_ptr<PackageIndex>& index,
                              const lock::LockedPackage& package,
                              const ChosenFile& file) {
  return {.title = package.version ? fmt::format("`{}` {}", package.name, package.version->str())
                                   : fmt::format("`{}`", printable(file.name)),
          .kind = archive_kind,
          .place = package.place,
          .identity = archive_identity(file.name, file.digest.hex()),
          .name = file.name,
          .archive = [index, download = file.download()] {
            return index->wheels().get(download).path;
          }};
}

SourcesOfSet sources_of(const packaging::Packaging& work,
                        const std::shared_ptr<PackageIndex>& index,
                        const lock::LockedSet& set,
                        const std::vector<std::optional<ChosenFile>>& choices) {
  SourcesOfSet sources;
  for (std::size_t i = 0; i < set.packages.size(); ++i) {
    const auto& package = set.packages[i];
    if (!package.source) {
      if (!lock::is_wheel(choices[i]->name)) {
        sources.found.emplace(i, source_of_archive(index, package, *choices[i]));
      }
    } else if (!package.source->directory) {
      sources.found.emplace(i, source_of_repository(package));
    } else if (const auto& directory = *package.source->directory;
               const auto identity = directory_identity(work, directory)) {
      sources.found.emplace(
          i, WheelSource{.title = fmt::format("`{}`", printable(directory)),
                         .kind = directory_kind,
                         .place = package.place,
                         .identity = fmt::format("directory {} {}", directory, *identity),
                         .name = directory,
                         .directory = directory});
    } else {
      const bool is_there = work.plan().working_directory().find(directory).has_value();
      sources.obstacles.push_back(
          fmt::format("{}: `{}` {}", package.place, printable(directory),
                      is_there ? "is reached by a symbolic link" : "does not exist"));
    }
  }
  return sources;
}

std::optional<std::string> obstacle_of(const lock::LockedPackage& package,
                                       const lock::FileChooser& files) {
  const auto obstacle = files.obstacle(package);
  if (!obstacle) {
    return std::nullopt;
  }
  return package.name.empty() ? fmt::format("{}: {}", package.place, *obstacle)
                              : fmt::format("{}: `{}`: {}", package.place, package.name, *obstacle);
}

std::optional<std::string> kind_of_source(const lock::LockedPackage& package,
                                          const lock::FileChooser& files) {
  if (package.source) {
    return package.source->directory ? directory_kind : repository_kind;
  }
  if (package.files.empty()) {
    return package.formats == lock::Formats::sources ? std::optional{archive_kind} : std::nullopt;
  }
  return files.choose(package).chosen ? std::nullopt : std::optional{archive_kind};
}

}  // namespace autopack::build
