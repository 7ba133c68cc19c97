#include "image/file_image.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "image/archive_reader.hpp"
#include "image/source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace autopack::image {

namespace {

/// The files of an image: those of a directory, or the members of a tar.
class Members {
public:
  virtual ~Members() = default;
  /// Returns the size in bytes, or nothing if there is no such file.
  virtual std::optional<std::uint64_t> size(const std::string& name) const = 0;
  /// Opens an existing file at its start.
  virtual Reader open(const std::string& name) const = 0;

  /// Returns a small file as a whole, or nothing if there is no such file. Throws
  /// Error(environment) above 8 MiB.
  std::optional<std::string> text(const std::string& name) const;
};

/// Throws Error(usage) if `directory` is not a directory.
std::shared_ptr<const Members> open_directory(const std::filesystem::path& directory);
/// Opens a tar. One that is compressed with gzip or zstd is unpacked into an unnamed file in the
/// directory for temporary files. Throws Error(usage, environment) if `file` is not a tar.
std::shared_ptr<const Members> open_tar(const std::filesystem::path& file);

namespace fs = std::filesystem;
using File = FileDescriptor;

constexpr std::uint64_t largest_text{8U << 20U};

/// The number of links that Linux follows.
constexpr int most_links_followed{40};

Error cannot_read(const fs::path& path, int code) {
  return Error(ErrorKind::usage, fmt::format("cannot read `{}`", printable(path.string())))
      .cause(std::strerror(code));
}

std::shared_ptr<const File> open_file(const fs::path& path) {
  auto file = std::make_shared<const File>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!*file) {
    throw cannot_read(path, errno);
  }
  return file;
}

/// Reads bytes `begin` to `end` of a file that readers in several threads may share.
Reader read_range(std::shared_ptr<const File> file,
                  fs::path path,
                  std::uint64_t begin,
                  std::uint64_t end) {
  return [file = std::move(file), path = std::move(path), at = begin, end](
             char* buffer, std::size_t size) mutable -> std::size_t {
    for (;;) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size, end - at));
      const ssize_t count = ::pread(file->get(), buffer, wanted, static_cast<off_t>(at));
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count < 0) {
        throw cannot_read(path, errno);
      }
      at += static_cast<std::uint64_t>(count);
      return static_cast<std::size_t>(count);
    }
  };
}

class Directory final : public Members {
public:
  explicit Directory(fs::path path) : path_{std::move(path)} {}

  std::optional<std::uint64_t> size(const std::string& name) const override {
    std::error_code failure;
    const auto size = fs::file_size(path_ / name, failure);
    return failure ? std::nullopt : std::optional<std::uint64_t>{size};
  }

  Reader open(const std::string& name) const override {
    const fs::path path = path_ / name;
    auto file = open_file(path);
    return read_range(std::move(file), path, 0, size(name).value_or(0));
  }

private:
  fs::path path_;
};

bool is_compressed(const File& file) {
  std::string head(4, '\0');
  const ssize_t count = ::pread(file.get(), head.data(), head.size(), 0);
  head.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return head.starts_with("\x1f\x8b") || head.starts_with("\x28\xb5\x2f\xfd");
}

/// Decompresses `file` into a file that disappears when it is closed.
std::shared_ptr<const File> unpacked(const File& file, const fs::path& path) {
  const fs::path directory = fs::temp_directory_path();
  auto plain = std::make_shared<const File>(
      ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  const auto cannot_write = [&] {
    return Error(ErrorKind::environment,
                 fmt::format("cannot unpack `{}` in `{}`", printable(path.string()),
                             printable(directory.string())))
        .cause(std::strerror(errno))
        .hint("set TMPDIR to another directory");
  };
  if (!*plain) {
    throw cannot_write();
  }
  decompress(file.get(), "`" + printable(path.string()) + "`", [&](std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(plain->get(), bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) {
        throw cannot_write();
      }
      bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
  });
  ::lseek(plain->get(), 0, SEEK_SET);
  return plain;
}

class Tar final : public Members {
public:
  explicit Tar(const fs::path& path) : path_{path}, file_{open_file(path)} {
    if (is_compressed(*file_)) {
      file_ = unpacked(*file_, path);
    }
    index_archive(file_->get(), "`" + printable(path.string()) + "`",
                  [&](const ArchiveEntry& entry) { take(entry); });
  }

  std::optional<std::uint64_t> size(const std::string& name) const override {
    const auto* member = find(name);
    return member == nullptr ? std::nullopt : std::optional{member->end - member->begin};
  }

  Reader open(const std::string& name) const override {
    const auto* member = find(name);
    if (member == nullptr) {
      throw Error(ErrorKind::environment,
                  fmt::format("`{}` holds no `{}`", printable(path_.string()), printable(name)));
    }
    return read_range(file_, path_, member->begin, member->end);
  }

private:
  struct Member {
    std::uint64_t begin{0};
    std::uint64_t end{0};
    std::string link{};
  };

  void take(const ArchiveEntry& entry) {
    using Type = ArchiveEntry::Type;
    const std::string name = normal_path(entry.path);
    if (entry.type == Type::file) {
      members_[name] = {.begin = entry.data, .end = entry.data + entry.size};
    } else if (entry.type == Type::hard_link) {
      members_[name] = {.link = normal_path(entry.link)};
    } else if (entry.type == Type::symlink) {
      // `docker save` writes equal layers once, and links for the rest.
      members_[name] = {
          .link = (fs::path{name}.parent_path() / entry.link).lexically_normal().string()};
    }
  }

  const Member* find(std::string name) const {
    name = normal_path(name);
    for (int links = 0; links < most_links_followed; ++links) {
      const auto found = members_.find(name);
      if (found == members_.end()) {
        return nullptr;
      }
      if (found->second.link.empty()) {
        return &found->second;
      }
      name = found->second.link;
    }
    return nullptr;
  }

  fs::path path_;
  std::shared_ptr<const File> file_;
  std::map<std::string, Member> members_;
};

std::optional<std::string> Members::text(const std::string& name) const {
  const auto bytes = size(name);
  if (!bytes) {
    return std::nullopt;
  }
  if (*bytes > largest_text) {
    throw Error(ErrorKind::environment,
                fmt::format("`{}` is too large: {}", printable(name), human_size(*bytes)));
  }
  std::string text;
  read_all(open(name), [&](std::string_view piece) { text += piece; });
  return text;
}

std::shared_ptr<const Members> open_directory(const fs::path& directory) {
  std::error_code failure;
  if (!fs::is_directory(directory, failure)) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` is not a directory", printable(directory.string())));
  }
  return std::make_shared<const Directory>(directory);
}

std::shared_ptr<const Members> open_tar(const fs::path& file) {
  try {
    return std::make_shared<const Tar>(file);
  } catch (Error& error) {
    error.hint("`docker save -o FILE IMAGE` creates one");
    throw;
  }
}

using nlohmann::json;
using Files = std::shared_ptr<const Members>;

std::string quote(const FileReference& reference) {
  return "`" + printable(reference.text) + "`";
}

std::string blob_name(const Digest& digest) {
  return "blobs/sha256/" + digest.hex();
}

std::string text_of(const Members& files, const std::string& name, const std::string& where) {
  auto text = files.text(name);
  if (!text) {
    throw Error(ErrorKind::environment, fmt::format("{} holds no `{}`", where, printable(name)));
  }
  return std::move(*text);
}

/// Reads a manifest or a configuration.
std::string read_blob(const Members& files, const Descriptor& blob, const std::string& where) {
  const auto text = files.text(blob_name(blob.digest));
  if (!text) {
    throw Error(ErrorKind::environment,
                fmt::format("{} has no blob `{}`", where, blob.digest.str()));
  }
  if (sha256(*text) != blob.digest) {
    throw Error(ErrorKind::environment,
                fmt::format("blob `{}` of {} is damaged", blob.digest.str(), where))
        .cause("its content has another digest");
  }
  return *text;
}

/// Returns the entry of a layout's index that `reference` names.
const IndexEntry& entry_for(const std::vector<IndexEntry>& entries,
                            const FileReference& reference,
                            const std::string& platform) {
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    if (reference.digest ? entry.manifest.digest == *reference.digest
                         : reference.tag && entry.name == reference.tag) {
      return entry;
    }
    names.push_back(entry.name.value_or(entry.manifest.digest.str()));
  }
  const bool chosen = reference.digest || reference.tag;
  // One image may have several names.
  const bool is_one = !entries.empty() && std::ranges::all_of(entries, [&](const auto& entry) {
    return entry.manifest.digest == entries.front().manifest.digest;
  });
  if (!chosen && is_one) {
    return entries.front();
  }
  const auto has_platform = [](const IndexEntry& entry) { return entry.platform.has_value(); };
  if (!chosen && !entries.empty() && std::ranges::all_of(entries, has_platform) &&
      std::ranges::all_of(names, [](const auto& name) { return name.starts_with("sha256:"); })) {
    return choose(entries, platform, quote(reference));
  }
  throw Error(ErrorKind::usage,
              chosen ? fmt::format("{} is not in the layout", quote(reference))
                     : fmt::format("{} holds {} images", quote(reference), entries.size()))
      .cause(names.empty() ? std::string{"it is empty"} : "it has `" + join(names, "`, `") + "`")
      .hint("`oci:DIR:TAG` and `oci:DIR@sha256:DIGEST` name one of them");
}

Source open_layout(const Files& files,
                   const FileReference& reference,
                   const std::string& platform) {
  const std::string where = quote(reference);
  const auto entries = parse_index(text_of(*files, "index.json", where), "the index of " + where);
  Descriptor chosen = entry_for(entries, reference, platform).manifest;
  const Digest digest = chosen.digest;
  std::string text = read_blob(*files, chosen, where);
  if (is_index(text)) {
    chosen = choose(parse_index(text, "an index of " + where), platform, where).manifest;
    text = read_blob(*files, chosen, where);
  }
  auto manifest = parse_manifest(text, "the manifest of " + where);
  auto configuration = read_blob(*files, manifest.config, where);
  Source source{.name = reference.text,
                .digest = digest,
                .manifest = std::move(manifest),
                .configuration = std::move(configuration),
                .open = [files, where](const Descriptor& layer) {
                  return verified(files->open(blob_name(layer.digest)), layer, where);
                }};
  check_layers(source);
  return source;
}

/// The first bytes of a compressed layer: RFC 1952, RFC 8878.
std::string media_type_of(std::string_view head) {
  return std::string{head.starts_with("\x1f\x8b") ? media_type::oci_layer
                     : head.starts_with("\x28\xb5\x2f\xfd")
                         ? std::string_view{"application/vnd.oci.image.layer.v1.tar+zstd"}
                         : media_type::oci_plain_layer};
}

/// Determines what an archive of `docker save` does not record about a layer.
Descriptor describe(const Members& files, const std::string& name, const Digest& diff_id) {
  Descriptor layer{.digest = diff_id, .size = files.size(name).value_or(0)};
  std::string head(4, '\0');
  head.resize(files.open(name)(head.data(), head.size()));
  layer.media_type = media_type_of(head);
  if (!is_plain_tar(layer)) {
    Sha256 hash;
    read_all(files.open(name), [&](std::string_view piece) { hash.update(piece); });
    layer.digest = hash.finish();
  }
  return layer;
}

/// Returns the only image of a `manifest.json`.
json saved_image(const Members& files, const std::string& where) {
  const json document = parse_json(text_of(files, "manifest.json", where));
  if (!document.is_array() || document.size() != 1) {
    throw Error(ErrorKind::usage, fmt::format("{} holds {} images, not one", where,
                                              document.is_array() ? document.size() : 0))
        .hint("`docker save -o FILE IMAGE` with one image creates such a file");
  }
  return document.front();
}

Source open_saved(const Files& files, const FileReference& reference) {
  const std::string where = quote(reference);
  const json image = saved_image(*files, where);
  std::string configuration;
  std::vector<Descriptor> descriptors;
  std::map<Digest, std::string> names;
  try {
    configuration = text_of(*files, image.at("Config").get<std::string>(), where);
    const auto layers = image.at("Layers").get<std::vector<std::string>>();
    const auto diff_ids =
        Configuration::parse(configuration, "the configuration of " + where).diff_ids();
    if (layers.size() != diff_ids.size()) {
      throw Error(ErrorKind::environment,
                  fmt::format("{} has {} layers, and its configuration names {}", where,
                              layers.size(), diff_ids.size()));
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto layer = describe(*files, layers[i], diff_ids[i]);
      names[layer.digest] = layers[i];
      descriptors.push_back(layer);
    }
  } catch (const json::exception& error) {
    throw Error(ErrorKind::environment, fmt::format("{} cannot be read", where))
        .cause(error.what());
  }
  auto manifest = as_oci({.config = {.digest = sha256(configuration), .size = configuration.size()},
                          .layers = std::move(descriptors)});
  const auto digest = sha256(to_json(manifest));
  return {.name = reference.text,
          .digest = digest,
          .manifest = std::move(manifest),
          .configuration = std::move(configuration),
          .open = [files, where, names = std::move(names)](const Descriptor& layer) {
            return verified(files->open(names.at(layer.digest)), layer, where);
          }};
}

}  // namespace

Source open_files(const FileReference& reference, const std::string& platform) {
  const Files files = reference.kind == FileReference::Kind::layout ? open_directory(reference.path)
                                                                    : open_tar(reference.path);
  if (files->size("index.json")) {
    return open_layout(files, reference, platform);
  }
  if (reference.kind == FileReference::Kind::archive && files->size("manifest.json")) {
    return open_saved(files, reference);
  }
  throw Error(ErrorKind::usage,
              reference.kind == FileReference::Kind::layout
                  ? fmt::format("`{}` is not an OCI layout: it has no `index.json`",
                                printable(reference.path.string()))
                  : fmt::format("`{}` holds no image: it has neither `manifest.json` nor "
                                "`index.json`",
                                printable(reference.path.string())))
      .hint(
          "create one with `skopeo copy docker://IMAGE oci:DIR:TAG` or `docker save -o FILE "
          "IMAGE`");
}

}  // namespace autopack::image
