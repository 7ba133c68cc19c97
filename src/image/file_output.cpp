#include "image/file_output.hpp"

#include "base/contains.hpp"
#include "base/descriptor.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "image/manifest.hpp"
#include "image/new_directory.hpp"
#include "image/reference.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

namespace autopack::image {

namespace {

/// Returns the path of a blob in the OCI layout at `directory`.
std::filesystem::path blob_path(const std::filesystem::path& directory, const Digest& digest);

/// Removes the blobs of the manifests in `dropped`, which the index of the OCI layout at
/// `directory` no longer names, except those that the index still needs. Keeps blobs that no
/// dropped manifest names. Removes nothing if a manifest of the index cannot be read.
void sweep_layout(const std::filesystem::path& directory, const std::vector<Digest>& dropped);

namespace fs = std::filesystem;

constexpr int most_nested{4};

/// Adds everything that an index or a manifest names, on all levels. Throws Error if a manifest is
/// missing or cannot be read.
void add_named(const fs::path& directory,
               const std::string& text,
               std::set<Digest>& blobs,
               int depth = 0) {
  const std::string what = "a manifest of the layout";
  if (!is_index(text)) {
    const Manifest manifest = parse_manifest(text, what);
    blobs.insert(manifest.config.digest);
    for (const Descriptor& layer : manifest.layers) {
      blobs.insert(layer.digest);
    }
    return;
  }
  if (depth == most_nested) {
    throw Error(ErrorKind::environment, what + " is nested too deeply");
  }
  for (const IndexEntry& entry : parse_index(text, what)) {
    blobs.insert(entry.manifest.digest);
    add_named(directory, read_file(blob_path(directory, entry.manifest.digest)), blobs, depth + 1);
  }
}

fs::path blob_path(const fs::path& directory, const Digest& digest) {
  return directory / "blobs" / "sha256" / digest.hex();
}

void sweep_layout(const fs::path& directory, const std::vector<Digest>& dropped) {
  std::set<Digest> needed;
  std::set<Digest> candidates;
  try {
    add_named(directory, read_file(directory / "index.json"), needed);
    for (const Digest& digest : dropped) {
      candidates.insert(digest);
      add_named(directory, read_file(blob_path(directory, digest)), candidates);
    }
  } catch (const Error&) {
    return;
  }
  for (const Digest& digest : candidates) {
    if (!needed.contains(digest)) {
      std::error_code ignored;
      fs::remove(blob_path(directory, digest), ignored);
    }
  }
}

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view layout_mark{R"({"imageLayoutVersion":"1.0.0"})"};
constexpr std::string_view blob_directory{"blobs/sha256"};
/// Annotations of the OCI image specification, and of tools that load a layout into containerd.
constexpr auto* tag_annotation = "org.opencontainers.image.ref.name";
constexpr auto* name_annotation = "io.containerd.image.name";

/// The manifest as stored in a layout, and its entry in the index.
struct Stored {
  Manifest manifest;
  std::string text{};
  Json entry{};
};

Stored stored(const Source& image) {
  Stored result{.manifest = as_oci(image.manifest)};
  result.text = to_json(result.manifest);
  result.entry = index_entry(
      {.manifest = {.media_type = std::string{media_type::oci_manifest},
                    .digest = sha256(result.text),
                    .size = result.text.size()},
       .platform =
           Configuration::parse(image.configuration, "the configuration of the image").platform()});
  return result;
}

/// Blobs that were added to a layout. Removes them again unless keep() is called.
class NewBlobs {
public:
  explicit NewBlobs(fs::path directory) : directory_{std::move(directory)} {}

  ~NewBlobs() {
    std::error_code ignored;
    for (const auto& path : written_) {
      fs::remove(path, ignored);
    }
  }

  NewBlobs(const NewBlobs&) = delete;
  NewBlobs& operator=(const NewBlobs&) = delete;

  void add(const Digest& digest, std::string_view text) {
    add(digest, text.size(), [&](NewFile& file) { file.write(text); });
  }

  void add(const Source& image, const Descriptor& layer) {
    add(layer.digest, layer.size, [&](NewFile& file) {
      read_all(image.open(layer), [&](std::string_view bytes) { file.write(bytes); });
    });
  }

  void keep() { written_.clear(); }

private:
  template <class Write>
  void add(const Digest& digest, std::uint64_t size, Write write) {
    const fs::path path = blob_path(directory_, digest);
    std::error_code missing;
    if (fs::file_size(path, missing) == size && !missing) {
      return;
    }
    NewFile file{path};
    write(file);
    file.commit();
    written_.push_back(path);
  }

  fs::path directory_;
  std::vector<fs::path> written_;
};

std::string tag_of_entry(const Json& entry) {
  return entry.value("annotations", Json::object()).value(tag_annotation, std::string{});
}

/// Returns the index of the layout at `directory` with `entry` in place of the one with the same
/// tag. Adds the digest of the old entry to `dropped`.
Json merged_index(const fs::path& directory, const Json& entry, std::vector<Digest>& dropped) {
  const auto text = read_file_if_exists(directory / "index.json");
  Json entries = Json::array();
  if (text) {
    const Json index = parse_json(*text);
    const Error unreadable{ErrorKind::usage,
                           fmt::format("`{}` is not an OCI layout: its `index.json` cannot be read",
                                       printable(directory.string()))};
    if (!index.is_object() || !index.contains("manifests")) {
      throw unreadable;
    }
    try {
      for (const auto& old : index.at("manifests")) {
        if (tag_of_entry(old) != tag_of_entry(entry)) {
          entries.push_back(old);
        } else if (const auto digest = Digest::parse(old.value("digest", std::string{}))) {
          dropped.push_back(*digest);
        }
      }
    } catch (const Json::exception&) {
      throw unreadable;
    }
  }
  entries.push_back(entry);
  return index_of(std::move(entries));
}

/// Locks a layout while it changes, so that no writer relies on a blob that another one removes.
class Lock {
public:
  explicit Lock(const fs::path& directory)
      : file_{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)} {
    while (file_ && ::flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
  }

private:
  FileDescriptor file_;
};

/// Removes the leftovers of killed writers in the layout at `directory`.
void sweep_writers(const fs::path& directory) {
  sweep_leftovers(directory / "index.json");
  sweep_leftovers(directory / "oci-layout");
  std::error_code code;
  for (fs::directory_iterator entry{directory / blob_directory, code};
       !code && entry != fs::directory_iterator{}; entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    const auto end = name.find('.', 1);
    if (name.starts_with('.') && end != std::string::npos) {
      sweep_leftovers(entry->path().parent_path() / name.substr(1, end - 1));
    }
  }
}

/// Returns the index entry with `tag`.
Json tagged(Json entry, const std::optional<std::string>& tag) {
  if (tag) {
    entry["annotations"] = {{tag_annotation, *tag}};
  }
  return entry;
}

/// The caller holds the layout's lock.
void fill_layout(const Source& image,
                 const fs::path& directory,
                 const std::optional<std::string>& tag) {
  const Stored result = stored(image);
  std::vector<Digest> dropped;
  const Json index = merged_index(directory, tagged(result.entry, tag), dropped);
  NewBlobs blobs{directory};
  for (const Descriptor& layer : result.manifest.layers) {
    blobs.add(image, layer);
  }
  blobs.add(result.manifest.config.digest, image.configuration);
  blobs.add(sha256(result.text), result.text);
  write_file(directory / "oci-layout", layout_mark);
  write_file(directory / "index.json", write_json(index));
  blobs.keep();
  sweep_layout(directory, dropped);
}

/// Adds the image to the layout at `path`; returns false if there is no layout.
bool add_to_layout(const Source& image,
                   const fs::path& path,
                   const std::optional<std::string>& tag) {
  std::error_code failure;
  if (!fs::exists(path / "oci-layout", failure)) {
    return false;
  }
  const Lock lock{path};
  sweep_writers(path);
  fill_layout(image, path, tag);
  return true;
}

/// Removes the entries with one of `tags` from an index.
void drop_tags(Json& index, const std::vector<std::string>& tags) {
  auto& listed = index["manifests"];
  listed.erase(
      std::remove_if(listed.begin(), listed.end(),
                     [&](const Json& entry) { return contains(tags, tag_of_entry(entry)); }),
      listed.end());
}

std::string tag_of(const std::string& name) {
  const auto colon = name.rfind(':');
  return colon == std::string::npos ? "" : name.substr(colon + 1);
}

}  // namespace

void write_layout(const Source& image,
                  const fs::path& directory,
                  const std::optional<std::string>& tag) {
  std::error_code failure;
  const fs::path path = fs::absolute(directory / "").parent_path();
  sweep_leftovers(path);
  if (add_to_layout(image, path, tag)) {
    return;
  }
  const bool is_free = !fs::exists(path, failure) ||
                       (fs::is_directory(path, failure) && fs::is_empty(path, failure));
  if (is_free) {
    NewDirectory fresh{path};
    fill_layout(image, fresh.path(), tag);
    if (fresh.commit()) {
      return;
    }
  }
  // Another run may have created it meanwhile.
  if (!add_to_layout(image, path, tag)) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` exists and is not an OCI layout", printable(directory.string())));
  }
}

Digest join_layout(const fs::path& directory,
                   const std::vector<std::string>& parts,
                   const std::optional<std::string>& tag) {
  const Lock lock{directory};
  const std::string what = fmt::format("the index of `{}`", printable(directory.string()));
  const auto there = parse_index(read_file(directory / "index.json"), what);
  Json entries = Json::array();
  for (const auto& part : parts) {
    const auto found = std::ranges::find_if(
        there, [&](const IndexEntry& entry) { return entry.name == part && entry.platform; });
    if (found == there.end()) {
      throw Error(ErrorKind::environment, fmt::format("{} lost `{}`", what, part))
          .hint("no other program may write there at the same time");
    }
    entries.push_back(index_entry(*found));
  }
  const std::string text = write_json(index_of(std::move(entries)));
  Digest digest = sha256(text);
  std::vector<Digest> dropped;
  Json index = merged_index(
      directory,
      tagged(
          {{"mediaType", media_type::oci_index}, {"digest", digest.str()}, {"size", text.size()}},
          tag),
      dropped);
  drop_tags(index, parts);
  NewBlobs blobs{directory};
  blobs.add(digest, text);
  write_file(directory / "index.json", write_json(index));
  blobs.keep();
  sweep_layout(directory, dropped);
  return digest;
}

void discard_parts(const fs::path& directory, const std::vector<std::string>& parts) {
  try {
    const Lock lock{directory};
    const auto text = read_file(directory / "index.json");
    std::vector<Digest> dropped;
    for (const auto& entry : parse_index(text, "the layout")) {
      if (contains(parts, entry.name)) {
        dropped.push_back(entry.manifest.digest);
      }
    }
    if (!dropped.empty()) {
      Json index = parse_json(text);
      drop_tags(index, parts);
      write_file(directory / "index.json", write_json(index));
      sweep_layout(directory, dropped);
    }
  } catch (const Error&) {  // the caller reports the error that made it discard the parts
  }
}

namespace {

/// Returns `docker.io/library/model:1` for `model:1`: containerd's store does not complete names.
std::string whole_name(const std::string& name) {
  const auto reference = Reference::parse(name);
  return fmt::format("{}/{}:{}", reference.host, reference.path, reference.tag.value_or("latest"));
}

}  // namespace

void write_archive(const Source& image,
                   const std::vector<std::string>& names,
                   std::size_t left_out,
                   const TarWriter::Take& out) {
  const Stored result = stored(image);
  const auto name_of = [](const Digest& digest) {
    return fmt::format("{}/{}", blob_directory, digest.hex());
  };
  TarWriter tar{out};
  tar.add_directory("blobs");
  tar.add_directory(blob_directory);
  Json layers = Json::array();
  std::set<Digest> written;
  for (std::size_t i = 0; i < result.manifest.layers.size(); ++i) {
    const Descriptor& layer = result.manifest.layers[i];
    layers.push_back(name_of(layer.digest));
    if (i >= left_out && written.insert(layer.digest).second) {
      tar.add_file(name_of(layer.digest), file_mode(false), layer.size,
                   [&](const TarWriter::Take& take) { read_all(image.open(layer), take); });
    }
  }
  tar.add_file(name_of(result.manifest.config.digest), file_mode(false), image.configuration);
  tar.add_file(name_of(sha256(result.text)), file_mode(false), result.text);
  Json entries = Json::array();
  for (const auto& name : names) {
    entries.push_back(result.entry);
    entries.back()["annotations"] = {{name_annotation, whole_name(name)},
                                     {tag_annotation, tag_of(name)}};
  }
  tar.add_file("index.json", file_mode(false),
               write_json(index_of(names.empty() ? Json::array({result.entry}) : entries)));
  const Json saved{{"Config", name_of(result.manifest.config.digest)},
                   {"RepoTags", names},
                   {"Layers", std::move(layers)}};
  tar.add_file("manifest.json", file_mode(false), write_json(Json::array({saved})));
  tar.add_file("oci-layout", file_mode(false), layout_mark);
  tar.finish();
}

}  // namespace autopack::image
