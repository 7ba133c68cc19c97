#include "base/json.hpp"
#include "base/text.hpp"
#include "executor/remembered/facts_format.hpp"
#include "executor/remembered/repository_facts.hpp"

#include <cstdint>
#include <utility>

namespace autopack {

namespace {

using namespace facts_format;
using nlohmann::json;

constexpr std::uint64_t largest_layer{std::uint64_t{1} << 50U};

bool is_key(const std::string& key) {
  return !key.empty() && key.size() <= longest_key;
}

/// Returns `value` as a number of bytes, or nothing if it is anything else, such as a negative
/// number.
std::optional<std::uint64_t> size_of(const json& value) {
  const auto size = value.is_number_unsigned() ? value.get<std::uint64_t>() : largest_layer + 1;
  return size <= largest_layer ? std::optional{size} : std::nullopt;
}

/// Throws json::exception if `value` is not a layer. Returns nothing for digests of another type
/// and for sizes that no layer has.
std::optional<image::LayerFacts> layer_of(const json& value) {
  const auto digest = Digest::parse(value.at("digest").get<std::string>());
  const auto diff_id = Digest::parse(value.at("diff_id").get<std::string>());
  const auto size = size_of(value.at("size"));
  const auto tar_size = size_of(value.at("tar_size"));
  return digest && diff_id && size && tar_size
             ? std::optional{image::LayerFacts{
                   .digest = *digest, .diff_id = *diff_id, .size = *size, .tar_size = *tar_size}}
             : std::nullopt;
}

}  // namespace

std::string facts_json(const RememberedFacts& facts,
                       const Digest& executor,
                       const std::string& platform) {
  json layers = json::array();
  for (const auto& [key, layer] : facts.layers) {
    layers.push_back({{"key", key},
                      {"digest", layer.digest.str()},
                      {"diff_id", layer.diff_id.str()},
                      {"size", layer.size},
                      {"tar_size", layer.tar_size}});
  }
  return print_json(json{{"format", version},
                         {"executor", executor.str()},
                         {"platform", platform},
                         {"about", facts.about.value_or("")},
                         {"layers", std::move(layers)}});
}

std::optional<RememberedFacts> read_facts(const image::Manifest& manifest,
                                          std::string_view text,
                                          const Digest& executor,
                                          const std::string& platform) {
  const json read = text.size() <= largest_index ? parse_json(text) : json{};
  if (!read.is_object() || manifest.layers.size() > most_texts) {
    return std::nullopt;
  }
  RememberedFacts facts;
  try {
    if (read.at("format") != json(version) || read.at("executor") != json(executor.str()) ||
        read.at("platform") != json(platform) || read.at("layers").size() > most_layers) {
      return std::nullopt;
    }
    facts.about = non_empty(read.at("about").get<std::string>());
    for (const auto& one : read.at("layers")) {
      const auto layer = layer_of(one);
      auto key = one.at("key").get<std::string>();
      if (!layer || !is_key(key)) {
        return std::nullopt;
      }
      facts.layers.emplace_back(std::move(key), *layer);
    }
  } catch (const json::exception&) {
    return std::nullopt;
  }
  for (const auto& blob : manifest.layers) {
    const auto keys = blob.annotations.find(keys_annotation);
    if (keys == blob.annotations.end() ||
        (blob.media_type != text_type && blob.media_type != lists_type)) {
      continue;
    }
    for (auto& key : split(keys->second, ' ')) {
      if (is_key(key)) {
        facts.texts.emplace_back(std::move(key), image::Descriptor{.media_type = blob.media_type,
                                                                   .digest = blob.digest,
                                                                   .size = blob.size});
      }
    }
  }
  return facts.texts.size() <= most_texts ? std::optional{std::move(facts)} : std::nullopt;
}

}  // namespace autopack
