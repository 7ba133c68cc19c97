#include "image/layout_sweep.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "image/manifest.hpp"

#include <set>
#include <system_error>

namespace autopack::image {

namespace {

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

}  // namespace

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

}  // namespace autopack::image
