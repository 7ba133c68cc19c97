#include "state/layer_cache.hpp"

#include "base/json.hpp"

#include <fmt/format.h>

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
  return store_.document(key, [&](const json& record) -> std::optional<image::LayerFacts> {
    const image::LayerFacts facts{
        .digest = Digest::parse(record.at("digest").get<std::string>()).value(),
        .diff_id = Digest::parse(record.at("diffID").get<std::string>()).value(),
        .size = record.at("size").get<std::uint64_t>(),
        .tar_size = record.at("tarSize").get<std::uint64_t>()};
    return record.at("seal").get<std::string>() == seal(key, facts) ? std::optional{facts}
                                                                    : std::nullopt;
  });
}

void LayerCache::put(const std::string& key, const image::LayerFacts& facts) const {
  store_.put_document(key, {{"digest", facts.digest.str()},
                            {"diffID", facts.diff_id.str()},
                            {"size", facts.size},
                            {"tarSize", facts.tar_size},
                            {"seal", seal(key, facts)}});
}

void LayerCache::clear() const {
  store_.clear();
}

}  // namespace autopack::state
