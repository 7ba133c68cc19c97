#include "rootless/unpacked_image.hpp"

#include "base/contains.hpp"
#include "base/elapsed.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/new_file.hpp"
#include "base/own_file.hpp"
#include "base/parallel.hpp"
#include "base/remove_tree.hpp"
#include "base/text.hpp"
#include "image/new_directory.hpp"
#include "image/unpacked_layer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <set>

namespace autopack::rootless {

namespace {

namespace fs = std::filesystem;

/// All names of layers must fit into one page of options of mount(2), with 160 layers.
constexpr std::size_t name_length{24};
constexpr std::size_t most_at_once{4};

std::string name_of(const Digest& plain) {
  return plain.hex().substr(0, name_length);
}

/// Opens the directory of a layer, and locks it against removal. Returns an empty descriptor if
/// there is no such layer.
FileDescriptor lock(const fs::path& directory) {
  for (;;) {
    FileDescriptor held{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    // On a file system without locks, this cannot be prevented.
    if (!held || (::flock(held.get(), LOCK_SH) != 0 && errno == EINTR)) {
      if (!held) {
        return held;
      }
      continue;
    }

    struct stat mine {};

    struct stat there {};

    if (::fstat(held.get(), &mine) == 0 && ::stat(directory.c_str(), &there) == 0 &&
        mine.st_ino == there.st_ino) {
      return held;
    }
  }
}

/// Removes the directory of a layer, unless somebody uses it.
void remove_unused(const fs::path& directory) {
  const FileDescriptor held{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!held || ::flock(held.get(), LOCK_EX | LOCK_NB) != 0) {
    return;
  }
  const auto away = name_underway(directory);
  std::error_code failure;
  fs::rename(directory, away, failure);
  if (!failure) {
    remove_tree(away);
  }
}

/// Removes what killed processes were unpacking or removing.
void sweep(const fs::path& directory) {
  std::set<std::string> names;
  std::error_code code;
  for (fs::directory_iterator entry{directory, code}; !code && entry != fs::directory_iterator{};
       entry.increment(code)) {
    const auto name = entry->path().filename().string();
    if (name.starts_with('.') && name.size() > name_length) {
      names.insert(name.substr(1, name_length));
    }
  }
  for (const auto& name : names) {
    sweep_leftovers(directory / name);
  }
}

/// Wraps `reader` so that it ends with Interrupted if the user stops the run.
image::Reader stoppable(image::Reader reader, const Cancellation* cancellation) {
  return [reader = std::move(reader), cancellation](char* buffer, std::size_t size) {
    if (cancellation != nullptr) {
      cancellation->throw_if_requested();
    }
    return reader(buffer, size);
  };
}

std::set<std::string> names_in(const fs::path& record) {
  const auto lines = split(read_file_if_exists(record).value_or(""), '\n');
  return {lines.begin(), lines.end()};
}

}  // namespace

FileDescriptor UnpackedLayers::unpack_layer(const image::Source& source,
                                            const image::Descriptor& layer,
                                            const Digest& plain,
                                            const std::string& name) const {
  const auto path = layers() / name;
  for (;;) {
    if (auto held = lock(path)) {
      return held;
    }
    image::NewDirectory directory{path};
    ::chmod(directory.path().c_str(), 0755);
    const auto what = fmt::format("layer `{}` of `{}`", layer.digest.str(), printable(source.name));
    const LiveStep step{reporter_,
                        fmt::format("unpacking layer {}", layer.digest.hex().substr(0, 12))};
    const auto found =
        image::unpack_layer(stoppable(source.open(layer), cancellation_), directory.path(), what);
    if (found != plain) {
      throw image::broken_image(
          source, fmt::format("layer `{}` decompresses to `{}`, but its configuration has `{}`",
                              layer.digest.str(), found.str(), plain.str()));
    }
    directory.commit();
  }
}

UnpackedImage UnpackedLayers::unpack(const image::Source& source) const {
  create_own_directories(layers());
  const auto started = std::chrono::steady_clock::now();
  const auto plain = image::check_layers(source);
  UnpackedImage image{
      .name = source.name, .directory = layers(), .configuration = source.configuration};
  // Only the highest of equal layers matters.
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (std::find(plain.begin() + static_cast<std::ptrdiff_t>(i) + 1, plain.end(), plain[i]) ==
        plain.end()) {
      wanted.push_back(i);
      image.layers.push_back(name_of(plain[i]));
    }
  }
  std::vector<std::optional<FileDescriptor>> locks(wanted.size());
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (auto held = lock(layers() / image.layers[i])) {
      locks[i] = std::move(held);
    } else {
      missing.push_back(i);
    }
  }
  if (!missing.empty()) {
    sweep(layers());
  }
  in_parallel(missing.size(), most_at_once, [&](std::size_t n) {
    const auto i = missing[n];
    locks[i] =
        unpack_layer(source, source.manifest.layers[wanted[i]], plain[wanted[i]], image.layers[i]);
  });
  if (!missing.empty()) {
    reporter_.done("Unpacked",
                   fmt::format("{} of {} layers in {}", missing.size(), wanted.size(),
                               elapsed_text(std::chrono::steady_clock::now() - started)));
  }
  for (auto& held : locks) {
    image.locks.push_back(std::move(held.value()));
  }
  return image;
}

void UnpackedLayers::keep_only(const std::string& user, const UnpackedImage& image) const {
  const auto users = directory_ / "users";
  const auto record = users / sha256(user).hex().substr(0, name_length);
  const auto before = names_in(record);
  const std::set<std::string> now{image.layers.begin(), image.layers.end()};
  if (before == now) {
    return;
  }
  create_own_directories(users);
  write_file(record, join(image.layers, "\n"), FileMode::secret);
  std::set<std::string> gone;
  std::ranges::set_difference(before, now, std::inserter(gone, gone.end()));
  std::error_code code;
  for (fs::directory_iterator entry{users, code}; !code && entry != fs::directory_iterator{};
       entry.increment(code)) {
    for (const auto& name : names_in(entry->path())) {
      gone.erase(name);
    }
  }
  for (const auto& name : gone) {
    if (name.size() == name_length && is_alphanumeric(name)) {
      remove_unused(layers() / name);
    }
  }
}

std::optional<std::string> read_file(const UnpackedImage& image,
                                     const std::string& path,
                                     std::size_t limit) {
  open_how how{};
  how.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  for (auto layer = image.locks.rbegin(); layer != image.locks.rend(); ++layer) {
    const FileDescriptor file{
        static_cast<int>(::syscall(SYS_openat2, layer->get(), path.c_str(), &how, sizeof how))};

    struct stat state {};

    if (!file && (errno == ENOENT || errno == ENOTDIR)) {
      continue;
    }
    if (!file || ::fstat(file.get(), &state) != 0 || !S_ISREG(state.st_mode) ||
        static_cast<std::size_t>(state.st_size) > limit) {
      return std::nullopt;  // a whiteout, too
    }
    std::string text(static_cast<std::size_t>(state.st_size), '\0');
    const ssize_t count = ::pread(file.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
  }
  return std::nullopt;
}

}  // namespace autopack::rootless
