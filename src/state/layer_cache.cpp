#include "state/layer_cache.hpp"

#include "base/json.hpp"
#include "state/cache_files.hpp"

#include <fmt/format.h>

#include <system_error>

namespace autopack::state {

using nlohmann::json;

namespace {

/// Binds a record to its key and to the compression format, so that damage is detected.
std::string seal(const std::string& key, const image::LayerFacts& facts) {
  return sha256(fmt::format("{} {} {} {} {} {}", image::compression_format, key, facts.digest.str(),
                            facts.diff_id.str(), facts.size, facts.tar_size))
      .hex();
}

}  // namespace

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

void LayerCache::clear() const {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

}  // namespace autopack::state
