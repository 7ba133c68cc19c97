#include "inventory/cleaning.hpp"

#include "base/contains.hpp"
#include "base/remove_tree.hpp"
#include "state/build_record.hpp"
#include "state/project_files.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace autopack::inventory {

namespace {

namespace fs = std::filesystem;

/// A directory or file of the cache, and its contents.
struct Kept {
  const char* path;
  const char* name;
};

constexpr std::array all_kept{
    Kept{"builds", "last builds of projects"},
    Kept{"files", "hashes of projects' files"},
    Kept{"python", "imports of projects' Python files"},
    Kept{"wheels", "wheels"},
    Kept{"wheel-records", "facts of wheels"},
    Kept{"indexes", "pages of package indexes"},
    Kept{"bases", "facts of executor images"},
    Kept{"blobs", "manifests and configurations"},
    Kept{"layers", "facts of layers"},
    Kept{"roots", "unpacked layers of images"},
    Kept{"installations", "facts of dependency images"},
    Kept{"pushed", "last pushes"},
    Kept{"saved.tar", "an image on its way"},
    Kept{"tokens", "access tokens"},
};

void measure(const fs::path& path, CachePart& part) {
  std::error_code failure;
  const auto status = fs::symlink_status(path, failure);
  if (failure || !fs::exists(status)) {
    return;
  }
  part.paths.push_back(path);
  const auto add = [&](const fs::path& file) {
    const auto size = fs::file_size(file, failure);
    part.size += failure ? 0 : size;
    ++part.files;
  };
  if (fs::is_regular_file(status)) {
    add(path);
    return;
  }
  for (fs::recursive_directory_iterator at{path, failure}, end; !failure && at != end;
       at.increment(failure)) {
    if (at->symlink_status(failure).type() == fs::file_type::regular) {
      add(at->path());
    }
  }
}

std::vector<CachePart> present(
    const std::vector<std::pair<std::string, std::vector<fs::path>>>& all) {
  std::vector<CachePart> parts;
  for (const auto& [name, paths] : all) {
    CachePart part{.name = name};
    for (const auto& path : paths) {
      measure(path, part);
    }
    if (!part.paths.empty()) {
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

}  // namespace

std::vector<CachePart> parts_of_project(const Environment& environment, const fs::path& directory) {
  const auto cache = environment.cache_directory();
  return present({
      {"last builds", state::BuildRecords{cache / "builds"}.files_of(directory)},
      {"hashes of files",
       {state::hashes_file(cache, directory, false), state::hashes_file(cache, directory, true)}},
      {"imports of Python files",
       {state::python_file(cache, directory, false), state::python_file(cache, directory, true)}},
  });
}

std::vector<CachePart> all_parts(const Environment& environment) {
  const auto cache = environment.cache_directory();
  std::vector<std::pair<std::string, std::vector<fs::path>>> all;
  for (const auto& [path, name] : all_kept) {
    all.emplace_back(name, std::vector<fs::path>{cache / path});
  }
  return present(all);
}

void remove(const CachePart& part) {
  for (const auto& path : part.paths) {
    remove_tree(path);
  }
}

namespace {

void add_engines(Services& services, const CleaningScope& scope, std::vector<Leftover>& found) {
  for (const auto& name : services.docker().left_containers()) {
    found.push_back({.kind = Leftover::Kind::container, .name = name});
  }
  for (const auto& image : images_in_engine(services, scope.repositories)) {
    const bool is_kept = contains(scope.kept_keys, image.key);
    if (image.is_ours && !is_kept) {
      found.push_back({.kind = Leftover::Kind::image, .name = image.name, .size = image.size});
    }
  }
}

}  // namespace

std::vector<Leftover> find_leftovers(Services& services, const CleaningScope& scope) {
  std::vector<Leftover> found;
  if (scope.looks_into_engine) {
    add_engines(services, scope, found);
  }
  if (scope.kept_keys.empty()) {
    const auto& environment = services.environment;
    for (auto& part : scope.directory ? parts_of_project(environment, *scope.directory)
                                      : all_parts(environment)) {
      found.push_back({.kind = Leftover::Kind::cache, .name = part.name, .size = part.size});
      found.back().part = std::move(part);
    }
  }
  return found;
}

void remove(Services& services, const Leftover& leftover) {
  switch (leftover.kind) {
    case Leftover::Kind::container: services.docker().remove_container(leftover.name); return;
    case Leftover::Kind::image: services.docker().remove_image(leftover.name); return;
    case Leftover::Kind::cache: remove(leftover.part.value()); return;
  }
}

}  // namespace autopack::inventory
