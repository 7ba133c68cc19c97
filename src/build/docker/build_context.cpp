#include "build/docker/build_context.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "build/docker/build_error.hpp"
#include "build/docker/step_names.hpp"

#include <algorithm>
#include <map>

namespace autopack::build {

namespace {

constexpr std::string_view own_dockerfile{".autopack/Dockerfile"};

/// The entries of the context by path, so that directories can be added and the order is fixed.
struct Item {
  const plan::ContextEntry* entry{nullptr};
  const std::string* text{nullptr};  ///< of a file that is not in a tree
  const std::filesystem::path* file{nullptr};
};

using Items = std::map<std::string, Item>;

std::vector<const plan::ContextEntry*> entries_of(const ContextParts& parts) {
  return parts.plan == nullptr ? std::vector<const plan::ContextEntry*>{}
                               : plan::context(*parts.plan);
}

/// Otherwise the engine would create the parents, with the time of the build.
void add_parents(Items& items) {
  for (const auto& [path, item] : items) {
    for (auto slash = path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = path.rfind('/', slash - 1)) {
      if (!items.try_emplace(path.substr(0, slash)).second) {
        break;
      }
    }
  }
}

void add(image::TarWriter& tar,
         const std::string& path,
         const plan::ContextEntry& entry,
         const plan::PlacedTree& tree) {
  switch (entry.type) {
    case source::EntryType::directory: tar.add_directory(path); break;
    case source::EntryType::symlink: tar.add_symlink(path, entry.link_target); break;
    case source::EntryType::file:
      tar.add_file(
          path, image::file_mode(entry.executable), entry.size,
          [&](const image::TarWriter::Take& take) { tree.stream_as_planned(entry, take); });
      break;
    case source::EntryType::other:
      throw Error(ErrorKind::internal, "`" + path + "` is neither file, directory nor link");
  }
}

/// Returns a path that no file or directory of the context uses.
std::string free_dockerfile_path(const ContextParts& parts) {
  std::string path{own_dockerfile};
  const auto context = entries_of(parts);
  const auto is_taken = [&] {
    return std::ranges::any_of(context, [&](const plan::ContextEntry* entry) {
      const std::string there = plan::context_path(*entry, parts.root);
      return there == path ||
             (entry->type != source::EntryType::directory && path.starts_with(there + "/"));
    });
  };
  for (int n = 2; is_taken(); ++n) {
    path = ".autopack." + std::to_string(n) + ".Dockerfile";
  }
  return path;
}

bool holds_own_dockerfile(const ContextParts& parts) {
  if (parts.plan == nullptr || !parts.plan->user_dockerfile) {
    return false;
  }
  const plan::ReadablePlan& plan = *parts.plan;
  const auto context = plan::context(plan);
  return std::ranges::any_of(context, [&](const plan::ContextEntry* entry) {
    return plan::context_path(*entry, parts.root) == plan.user_dockerfile &&
           entry->size == parts.dockerfile.size() && plan.read(*entry) == parts.dockerfile;
  });
}

/// Returns the user's own path if the context contains the Dockerfile unchanged, else a fixed name.
std::string path_of_dockerfile(const ContextParts& parts) {
  return holds_own_dockerfile(parts) ? *parts.plan->user_dockerfile : free_dockerfile_path(parts);
}

Items items_of(const ContextParts& parts) {
  Items items;
  for (const plan::ContextEntry* entry : entries_of(parts)) {
    const bool left_out = entry->tree == 0 && std::binary_search(parts.left_out.begin(),
                                                                 parts.left_out.end(), entry->path);
    if (!left_out) {
      items[plan::context_path(*entry, parts.root)] = {.entry = entry};
    }
  }
  for (const auto& file : parts.files) {
    items[file.path] = {.text = &file.text.reveal()};
  }
  for (const auto& copy : parts.copies) {
    items[copy.path] = {.file = &copy.file};
  }
  items.try_emplace(path_of_dockerfile(parts), Item{.text = &parts.dockerfile});
  return items;
}

}  // namespace

std::string PlannedContext::dockerfile_path() const {
  return path_of_dockerfile(parts_);
}

void PlannedContext::write(const std::function<void(std::string_view bytes)>& out) const {
  Items items = items_of(parts_);
  add_parents(items);
  image::TarWriter tar{out, parts_.file_time};
  for (const auto& [path, item] : items) {
    if (item.entry != nullptr) {
      add(tar, path, *item.entry, parts_.plan->trees.at(item.entry->tree));
    } else if (item.text != nullptr) {
      tar.add_file(path, image::file_mode(false), *item.text);
    } else if (item.file != nullptr) {
      tar.add_file(
          path, image::file_mode(false), std::filesystem::file_size(*item.file),
          [&file = *item.file](const image::TarWriter::Take& take) { read_in_pieces(file, take); });
    } else {
      tar.add_directory(path);
    }
  }
  tar.finish();
}

std::string PlannedContext::step_name(std::string_view step) const {
  return step_for_people(parts_, step);
}

Error PlannedContext::error_of(const engine::BuildFailure& failure) const {
  return build_error(failure, parts_);
}

}  // namespace autopack::build
