#include "state/blob_cache.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <vector>

namespace autopack::state {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::optional<std::string> read_quietly(const fs::path& path) {
  try {
    return read_file_if_exists(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Removes the oldest files until the others are within `limit` bytes.
void prune(const fs::path& directory, std::uint64_t limit) {
  struct File {
    fs::path path;
    fs::file_time_type time;
    std::uint64_t size;
  };

  std::vector<File> files;
  std::uint64_t total = 0;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator{directory, code}) {
    const auto size = entry.file_size(code);
    if (!code) {
      files.push_back({entry.path(), entry.last_write_time(code), size});
      total += size;
    }
  }
  if (total <= limit) {
    return;
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.time < b.time; });
  for (const File& file : files) {
    if (total <= limit / 2) {
      return;
    }
    fs::remove(file.path, code);
    total -= file.size;
  }
}

/// Binds a record to its key, so that no damage goes unseen.
std::string seal(const std::string& key, const image::LayerFacts& facts) {
  return sha256(fmt::format("{} {} {} {} {}", key, facts.digest.str(), facts.diff_id.str(),
                            facts.size, facts.tar_size))
      .hex();
}

void write_quietly(const fs::path& path, std::string_view text, std::uint64_t limit) {
  try {
    write_file(path, text, FileMode::secret);
    prune(path.parent_path(), limit);
  } catch (const Error&) {
    // A cache that cannot be written costs time, nothing else.
  }
}

}  // namespace

std::optional<std::string> BlobCache::get(const Digest& digest) const {
  auto blob = read_quietly(directory_ / digest.hex());
  return blob && sha256(*blob) == digest ? blob : std::nullopt;
}

void BlobCache::put(std::string_view blob) const {
  write_quietly(directory_ / sha256(blob).hex(), blob, limit_);
}

std::optional<image::LayerFacts> LayerCache::get(const std::string& key) const {
  const auto text = read_quietly(directory_ / key);
  const json record = parse_json(text.value_or(""));
  if (!record.is_object()) {
    return std::nullopt;
  }
  try {
    const auto digest = Digest::parse(record.at("digest").get<std::string>());
    const auto diff_id = Digest::parse(record.at("diffID").get<std::string>());
    if (!digest || !diff_id) {
      return std::nullopt;
    }
    const image::LayerFacts facts{.digest = *digest,
                                  .diff_id = *diff_id,
                                  .size = record.at("size").get<std::uint64_t>(),
                                  .tar_size = record.at("tarSize").get<std::uint64_t>()};
    return record.at("seal").get<std::string>() == seal(key, facts) ? std::optional{facts}
                                                                    : std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void LayerCache::put(const std::string& key, const image::LayerFacts& facts) const {
  const json record{{"digest", facts.digest.str()},
                    {"diffID", facts.diff_id.str()},
                    {"size", facts.size},
                    {"tarSize", facts.tar_size},
                    {"seal", seal(key, facts)}};
  write_quietly(directory_ / key, write_json(record), limit_);
}

}  // namespace autopack::state
