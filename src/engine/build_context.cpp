#include "engine/build_context.hpp"

#include "base/thread.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace autopack::engine {

namespace {

constexpr std::size_t pipe_size = std::size_t{1} << 20U;
constexpr std::string_view own_dockerfile{".autopack/Dockerfile"};

/// What the writer's thread is ended with when nobody reads on.
struct Abandoned {};

/// Everything of the context by path, so that directories can be added and the order is fixed.
struct Item {
  const plan::ContextEntry* entry{nullptr};
  const std::string* text{nullptr};  ///< of a file that is in no tree
};

using Items = std::map<std::string, Item>;

Items items_of(const BuildRequest& request) {
  Items items;
  for (const plan::ContextEntry* entry : plan::context(*request.plan)) {
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
  items.try_emplace(dockerfile_path(request), Item{.text = &request.dockerfile});
  return items;
}

/// Without these the engine would make the parents, with the time of the build.
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

/// Where no file of the context stands, nor anything that a directory is needed for.
std::string free_dockerfile_path(const BuildRequest& request) {
  std::string path{own_dockerfile};
  const auto context = plan::context(*request.plan);
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
  const plan::ReadablePlan& plan = *request.plan;
  if (plan.user_dockerfile.empty()) {
    return false;
  }
  const auto context = plan::context(plan);
  return std::any_of(context.begin(), context.end(), [&](const plan::ContextEntry* entry) {
    return plan::context_path(*entry, request.root) == plan.user_dockerfile &&
           entry->size == request.dockerfile.size() && plan.read(*entry) == request.dockerfile;
  });
}

}  // namespace

std::string dockerfile_path(const BuildRequest& request) {
  return holds_own_dockerfile(request) ? request.plan->user_dockerfile
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
    } else {
      tar.add_directory(path);
    }
  }
  tar.finish();
}

BytePipe::BytePipe(Write write) {
  buffer_.reserve(pipe_size);
  thread_ = start_thread<std::thread>([this, write = std::move(write)] {
    std::exception_ptr failure;
    try {
      write([this](std::string_view bytes) { put(bytes); });
    } catch (const Abandoned&) {
      return;
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock{mutex_};
    failure_ = failure;
    ended_ = true;
    changed_.notify_all();
  });
}

BytePipe::~BytePipe() {
  {
    const std::scoped_lock lock{mutex_};
    abandoned_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

std::size_t BytePipe::read(char* buffer, std::size_t size) {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return taken_ < buffer_.size() || ended_; });
  if (taken_ == buffer_.size()) {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    return 0;
  }
  const std::size_t count = std::min(size, buffer_.size() - taken_);
  std::memcpy(buffer, buffer_.data() + taken_, count);
  taken_ += count;
  count_ += count;
  if (taken_ == buffer_.size()) {
    buffer_.clear();
    taken_ = 0;
    changed_.notify_all();
  }
  return count;
}

void BytePipe::put(std::string_view bytes) {
  std::unique_lock lock{mutex_};
  while (!bytes.empty()) {
    changed_.wait(lock, [&] { return buffer_.size() < pipe_size || abandoned_; });
    if (abandoned_) {
      throw Abandoned{};
    }
    const std::size_t count = std::min(bytes.size(), pipe_size - buffer_.size());
    buffer_ += bytes.substr(0, count);
    bytes.remove_prefix(count);
    changed_.notify_all();
  }
}

}  // namespace autopack::engine
