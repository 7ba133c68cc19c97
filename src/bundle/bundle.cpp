#include "bundle/bundle.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/new_file.hpp"
#include "base/remove_tree.hpp"
#include "base/text.hpp"
#include "bundle/mark.hpp"
#include "bundle/root_directory.hpp"
#include "image/new_directory.hpp"
#include "image/root_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace autopack::bundle {

namespace {

namespace fs = std::filesystem;
using image::RootFile;
using RootPtr = std::shared_ptr<const RootFile>;

/// Files of user databases are smaller.
constexpr std::uint64_t largest_read{std::uint64_t{1} << 20U};
constexpr auto* configuration_name = "config.json";

/// Returns the regular file at `path` if it is small enough to be read; null if it is not there.
RootPtr small_file(const RootPtr& root, const std::string& path) {
  auto found = image::find_in_root(root, path);
  return found && found->is_regular() && found->size <= largest_read ? found : nullptr;
}

bool is_our_bundle(const fs::path& directory) {
  const auto text = read_file_if_exists(directory / configuration_name);
  const auto document = parse_json(text.value_or(""));
  return document.is_object() && document.contains("annotations") &&
         !text_at(document["annotations"], image_annotation).empty();
}

/// Throws Error(usage) if there is something that is not a bundle by autopack.
void check_replaceable(const fs::path& directory) {
  std::error_code failure;
  const auto there = fs::symlink_status(directory, failure);
  const bool is_free = there.type() == fs::file_type::not_found ||
                       (there.type() == fs::file_type::directory &&
                        (fs::is_empty(directory, failure) || is_our_bundle(directory)));
  if (!is_free) {
    throw Error(ErrorKind::usage, fmt::format("`{}` exists and is not a bundle by autopack",
                                              printable(directory.string())))
        .hint("name a new directory, or remove this one");
  }
}

/// Moves `made` to its place, and removes the bundle that is there.
void put_in_place(image::NewDirectory& made, const fs::path& directory) {
  while (!made.commit()) {
    check_replaceable(directory);
    const auto& fresh = made.path();
    if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, directory.c_str(), RENAME_EXCHANGE) == 0) {
      return;  // `made` has the old one now, and removes it
    }
    // Some file systems do not support such a rename (EINVAL).
    const auto away = name_underway(directory);
    std::error_code ignored;
    fs::rename(directory, away, ignored);
    remove_tree(away);
  }
}

/// Gives a file or directory the time that every machine gives it.
void set_usual_time(const fs::path& path) {
  const timespec time{.tv_sec = image::default_file_time, .tv_nsec = 0};
  const std::array times{time, time};
  ::utimensat(AT_FDCWD, path.c_str(), times.data(), 0);
}

}  // namespace

Starter Starter::this_user() {
  // A user namespace with fewer IDs than this has not those of an image.
  constexpr std::uint64_t all_ids{65536};
  Starter result{.user = ::geteuid(), .group = ::getegid(), .is_root = ::geteuid() == 0};
  std::istringstream map{read_file_if_exists("/proc/self/uid_map").value_or("0 0 4294967295")};
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  while (map >> inside >> outside >> count) {
    sum += count;
  }
  result.is_root = result.is_root && sum >= all_ids;
  return result;
}

void write_bundle(const image::Source& source,
                  const fs::path& directory,
                  const Starter& starter,
                  const image::RootLimits& limits) {
  const fs::path path = fs::absolute(directory / "").parent_path();
  check_replaceable(path);
  sweep_leftovers(path);
  image::NewDirectory made{path};
  // Programs of an image may be set-uid root.
  ::chmod(made.path().c_str(), starter.is_root ? 0700 : 0755);
  RootDirectory files{made.path(), starter};
  const RootPtr root = image::merge_layers(
      source,
      [&](const RootFile& file, const image::Reader& content) { files.take(file, content); },
      limits);
  const auto configuration = bundle_configuration(source, starter, [&](const std::string& name) {
    const auto file = small_file(root, name);
    return file ? std::optional{files.read(*file)} : std::nullopt;
  });
  files.finish(*root);
  write_file(made.path() / configuration_name, configuration);
  ::chmod((made.path() / configuration_name).c_str(), 0644);
  set_usual_time(made.path() / configuration_name);
  if (!starter.is_root && ::geteuid() == 0) {
    for (const auto& one : {made.path(), made.path() / configuration_name}) {
      if (::chown(one.c_str(), starter.user, starter.group) != 0) {
        throw Error(ErrorKind::environment,
                    fmt::format("cannot give the bundle to user {}", starter.user));
      }
    }
  }
  set_usual_time(made.path());
  put_in_place(made, path);
}

namespace {

/// A tar of a merged root file system, whose files arrive in the order of its layers.
class Archive {
public:
  Archive(image::TarWriter::Take out, const RootFile& root) : tar_{std::move(out)} {
    tar_.set_time(time_of(root));
    tar_.add_directory("rootfs", mode_of(root));
    add_directories(root, "rootfs");
  }

  void add_file(const RootFile& file, const image::Reader& content) {
    const auto found = paths_.find(file.number);
    if (found == paths_.end()) {
      return;
    }
    tar_.set_time(time_of(file));
    const auto& paths = found->second;
    tar_.add_file(paths.front(), mode_of(file), file.size,
                  [&](const image::TarWriter::Take& take) { image::read_all(content, take); });
    for (std::size_t i = 1; i < paths.size(); ++i) {
      tar_.add_hard_link(paths[i], paths.front());
    }
  }

  /// Adds the rest. Links are last, so that no file is written through one.
  void finish(const RootFile& root, const std::string& configuration) {
    add_links(root, "rootfs");
    tar_.set_time(image::default_file_time);
    tar_.add_file(configuration_name, 0644, configuration);
    tar_.finish();
  }

private:
  static unsigned mode_of(const RootFile& file) {
    return file.is_directory() ? (file.mode & 01777U) | S_IRWXU : (file.mode & 0777U) | S_IRUSR;
  }

  /// A ustar header has no earlier time.
  static std::int64_t time_of(const RootFile& file) {
    constexpr std::int64_t latest{077777777777};
    return std::clamp<std::int64_t>(file.time, 0, latest);
  }

  void add_directories(const RootFile& from, const std::string& path) {
    for (const auto& [name, file] : from.children) {
      const auto whole = path + "/" + name;
      if (file->is_directory()) {
        tar_.set_time(time_of(*file));
        tar_.add_directory(whole, mode_of(*file));
        add_directories(*file, whole);
      } else if (file->is_regular()) {
        paths_[file->number].push_back(whole);
      }
    }
  }

  void add_links(const RootFile& from, const std::string& path) {
    for (const auto& [name, file] : from.children) {
      const auto whole = path + "/" + name;
      if (file->is_directory()) {
        add_links(*file, whole);
      } else if (S_ISLNK(file->mode)) {
        tar_.set_time(time_of(*file));
        tar_.add_symlink(whole, file->target);
      }
    }
  }

  image::TarWriter tar_;
  std::map<std::uint64_t, std::vector<std::string>> paths_{};  ///< by number of the file
};

}  // namespace

void write_bundle_archive(const image::Source& source,
                          const Starter& starter,
                          image::TarWriter::Take out) {
  const RootPtr root = image::merge_layers(source, [](const RootFile&, const image::Reader&) {});
  // The numbers of the files that the configuration needs, and their texts.
  std::map<std::uint64_t, std::string> texts;
  for (const auto* name : {"etc/passwd", "etc/group"}) {
    if (const auto file = small_file(root, name)) {
      texts[file->number];
    }
  }
  Archive archive{std::move(out), *root};
  image::merge_layers(source, [&](const RootFile& file, const image::Reader& content) {
    const auto wanted = texts.find(file.number);
    archive.add_file(file, [&](char* buffer, std::size_t size) {
      const std::size_t count = content(buffer, size);
      if (wanted != texts.end()) {
        wanted->second.append(buffer, count);
      }
      return count;
    });
  });
  archive.finish(*root, bundle_configuration(source, starter, [&](const std::string& name) {
    const auto file = small_file(root, name);
    return file ? std::optional{texts[file->number]} : std::nullopt;
  }));
}

}  // namespace autopack::bundle
