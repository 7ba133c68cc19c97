#include "engine/build_context.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <map>

namespace autopack::engine {

namespace {

constexpr std::string_view own_dockerfile{".autopack/Dockerfile"};

/// The entries of the context by path, so that directories can be added and the order is fixed.
struct Item {
  const plan::ContextEntry* entry{nullptr};
  const std::string* text{nullptr};  ///< of a file that is not in a tree
  const std::filesystem::path* file{nullptr};
};

using Items = std::map<std::string, Item>;

std::vector<const plan::ContextEntry*> entries_of(const BuildRequest& request) {
  return request.plan == nullptr ? std::vector<const plan::ContextEntry*>{}
                                 : plan::context(*request.plan);
}

Items items_of(const BuildRequest& request) {
  Items items;
  for (const plan::ContextEntry* entry : entries_of(request)) {
    const bool left_out =
        entry->tree == 0 &&
        std::binary_search(request.left_out.begin(), request.left_out.end(), entry->path);
    if (!left_out) {
      items[plan::context_path(*entry, request.root)] = {.entry = entry};
    }
  }
  for (const auto& file : request.files) {
    items[file.path] = {.text = &file.text.reveal()};
  }
  for (const auto& copy : request.copies) {
    items[copy.path] = {.file = &copy.file};
  }
  items.try_emplace(dockerfile_path(request), Item{.text = &request.dockerfile});
  return items;
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
std::string free_dockerfile_path(const BuildRequest& request) {
  std::string path{own_dockerfile};
  const auto context = entries_of(request);
  const auto is_taken = [&] {
    return std::any_of(context.begin(), context.end(), [&](const plan::ContextEntry* entry) {
      const std::string there = plan::context_path(*entry, request.root);
      return there == path ||
             (entry->type != source::EntryType::directory && path.starts_with(there + "/"));
    });
  };
  for (int n = 2; is_taken(); ++n) {
    path = ".autopack." + std::to_string(n) + ".Dockerfile";
  }
  return path;
}

bool holds_own_dockerfile(const BuildRequest& request) {
  if (request.plan == nullptr || !request.plan->user_dockerfile) {
    return false;
  }
  const plan::ReadablePlan& plan = *request.plan;
  const auto context = plan::context(plan);
  return std::any_of(context.begin(), context.end(), [&](const plan::ContextEntry* entry) {
    return plan::context_path(*entry, request.root) == plan.user_dockerfile &&
           entry->size == request.dockerfile.size() && plan.read(*entry) == request.dockerfile;
  });
}

}  // namespace

std::string dockerfile_path(const BuildRequest& request) {
  return holds_own_dockerfile(request) ? *request.plan->user_dockerfile
                                       : free_dockerfile_path(request);
}

void write_context(const BuildRequest& request, const std::function<void(std::string_view)>& out) {
  Items items = items_of(request);
  add_parents(items);
  image::TarWriter tar{out, request.file_time};
  for (const auto& [path, item] : items) {
    if (item.entry != nullptr) {
      add(tar, path, *item.entry, request.plan->trees.at(item.entry->tree));
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

}  // namespace autopack::engine
