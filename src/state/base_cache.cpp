#include "state/base_cache.hpp"

#include "base/json.hpp"
#include "image/reference.hpp"

namespace autopack::state {

namespace {

namespace fs = std::filesystem;

fs::path file_of_digest(const Digest& digest, const std::string& platform) {
  return fs::path{"digests"} / (digest.hex() + "." + image::sanitize_component(platform) + ".json");
}

fs::path file_of_reference(const std::string& reference, const std::string& platform) {
  return fs::path{"references"} / (sha256(reference + "\n" + platform).hex() + ".json");
}

std::optional<image::BaseFacts> load(const Store& store, const fs::path& file) {
  return store.get(file, [](const std::string& text) {
    // Written by a release that did not determine the version: determine it again.
    const bool whole = text.find(R"("python_version":)") != std::string::npos;
    return whole ? image::facts_from_json(text) : std::nullopt;
  });
}

}  // namespace

std::optional<image::BaseFacts> BaseCache::by_digest(const Digest& digest,
                                                     const std::string& platform) const {
  auto facts = load(store_, file_of_digest(digest, platform));
  const bool same = facts && facts->digest == digest && facts->platform == platform;
  return same ? std::move(facts) : std::nullopt;
}

std::optional<image::BaseFacts> BaseCache::by_reference(const std::string& reference,
                                                        const std::string& platform) const {
  auto facts = load(store_, file_of_reference(reference, platform));
  const bool same = facts && facts->reference == reference && facts->platform == platform;
  return same ? std::move(facts) : std::nullopt;
}

void BaseCache::store(const image::BaseFacts& facts) const {
  auto json = parse_json(image::to_json_line(facts));
  json["environment"] = facts.environment;
  // Stored even if the image has no version, to record that it was searched for.
  json["python_version"] = facts.python_version.value_or("");
  const std::string text = print_json(json) + "\n";
  store_.put(file_of_reference(facts.reference, facts.platform), text);
  if (facts.digest) {
    store_.put(file_of_digest(*facts.digest, facts.platform), text);
  }
}

namespace {

std::string file_of(const Digest& image) {
  return image.hex() + ".json";
}

}  // namespace

std::map<std::string, bool> BaseModules::of(const Digest& image) const {
  return store_
      .document(file_of(image),
                [](const nlohmann::json& document) {
                  return std::optional{document.get<std::map<std::string, bool>>()};
                })
      .value_or(std::map<std::string, bool>{});
}

void BaseModules::store(const Digest& image, const std::map<std::string, bool>& modules) const {
  if (modules.size() > most_names) {
    return;
  }
  store_.put_document(file_of(image), modules);
}

}  // namespace autopack::state
