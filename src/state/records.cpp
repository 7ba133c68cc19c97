#include "state/records.hpp"

#include "base/digest.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace autopack::state {

namespace {

/// The first line of a file. It binds the record to its name, so that damage is detected.
std::string record_seal(const std::string& name, std::string_view record) {
  Sha256 hash;
  hash.update(std::to_string(name.size()) + " " + name);
  hash.update(record);
  return hash.finish().hex() + "\n";
}

}  // namespace

Records Records::changed_in(std::filesystem::path directory) const {
  Records changed{std::move(directory)};
  changed.below_ = std::make_shared<const Records>(*this);
  return changed;
}

std::optional<std::string> Records::get(const std::string& name) const {
  auto text = store_.get(sha256(name).hex());
  const auto end = text ? text->find('\n') : std::string::npos;
  if (end != std::string::npos) {
    auto record = text->substr(end + 1);
    if (text->substr(0, end + 1) == record_seal(name, record)) {
      return record;
    }
  }
  return below_ ? below_->get(name) : std::nullopt;
}

void Records::put(const std::string& name, const std::string& record) const {
  if (get(name) != record) {
    store_.put(sha256(name).hex(), record_seal(name, record) + record);
  }
}

std::optional<Digest> PushedImages::get(const std::string& repository) const {
  const auto text = store_.get(sha256(repository).hex());
  return text ? Digest::parse(trim(*text)) : std::nullopt;
}

void PushedImages::put(const std::string& repository, const Digest& manifest) const {
  if (get(repository) != manifest) {
    store_.put(sha256(repository).hex(), manifest.str() + "\n");
  }
}

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
