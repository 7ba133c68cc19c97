#include "build/wheels/sources_of_set.hpp"

#include "base/text.hpp"
#include "build/wheels/local_files.hpp"
#include "build/wheels/static_source.hpp"
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

std::optional<std::map<std::string, std::string>> files_below(const packaging::Packaging& work,
                                                              const std::string& directory) {
  std::map<std::string, std::string> files;
  std::uint64_t size = 0;
  for (const auto& entry : work.plan().dependencies.inputs) {
    if (!entry.path.starts_with(directory + "/") || entry.type == source::EntryType::directory) {
      continue;
    }
    size += entry.size;
    if (entry.type != source::EntryType::file || !may_be_read(files.size() + 1, size)) {
      return std::nullopt;
    }
    files.emplace(entry.path.substr(directory.size() + 1), work.plan().read(entry));
  }
  return files;
}

}  // namespace

std::string archive_identity(const std::string& file, const std::string& sha256) {
  return fmt::format("archive {} {}", file, sha256);
}

std::optional<std::string> identity_of_directory(const packaging::Packaging& work,
                                                 const std::string& directory) {
  const auto content = directory_identity(work, directory);
  return content ? std::optional{fmt::format("directory {} {}", directory, *content)}
                 : std::nullopt;
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
               auto identity = identity_of_directory(work, directory)) {
      sources.found.emplace(
          i, WheelSource{.title = fmt::format("`{}`", printable(directory)),
                         .kind = directory_kind,
                         .place = package.place,
                         .identity = *std::move(identity),
                         .name = directory,
                         .directory = directory,
                         .files = [&work, directory] { return files_below(work, directory); }});
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
