#include "executor/remembered/remembered_texts.hpp"

#include "base/json.hpp"
#include "executor/remembered/facts_format.hpp"
#include "image/archive_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace autopack {

namespace {

using namespace facts_format;
using nlohmann::json;

/// Texts up to this size are also cached on this machine. Larger ones are lists of files of wheels,
/// which their users cache.
constexpr std::uint64_t largest_kept_text{65'536};

/// Reads the packed text `descriptor`, from this machine if possible.
std::string packed_text(registry::Repository& repository,
                        const image::Descriptor& descriptor,
                        const state::BlobCache& blobs) {
  const bool is_kept = descriptor.size <= largest_kept_text;
  if (auto known = is_kept ? blobs.get(descriptor.digest) : std::nullopt) {
    return std::move(*known);
  }
  auto text = repository.read_blob(descriptor);
  if (is_kept) {
    blobs.put(text);
  }
  return text;
}

class Packing {
public:
  Packing(const RememberedFacts& before, const state::BlobCache& kept)
      : before_{before}, kept_{kept} {}

  void add_texts(const std::map<std::string, std::string>& all) {
    for (const auto& [key, text] : all) {
      if (auto blob = pack(text, text_type)) {
        packed_.texts.emplace_back(key, *blob->known);
        const auto* remembered = remembered_text(before_, key);
        if (remembered == nullptr || remembered->digest != blob->known->digest) {
          packed_.blobs.push_back(std::move(*blob));
        }
      }
    }
  }

  void add_lists(const std::map<std::string, std::string>& all) {
    json gathered = json::object();
    std::size_t size = 0;
    const auto send = [&] {
      if (auto blob = pack(write_json(gathered), lists_type)) {
        for (const auto& item : gathered.items()) {
          packed_.texts.emplace_back(item.key(), *blob->known);
        }
        packed_.blobs.push_back(std::move(*blob));
      }
      gathered = json::object();
      size = 0;
    };
    for (const auto& [key, text] : all) {
      if (remembered_text(before_, key) != nullptr) {
        continue;
      }
      if (!gathered.empty() && size + text.size() > largest_gathered) {
        send();
      }
      gathered[key] = text;
      size += text.size();
    }
    if (!gathered.empty()) {
      send();
    }
  }

  PackedTexts take() { return std::move(packed_); }

private:
  /// Returns nothing if the text is too long, so that it counts as absent.
  std::optional<registry::Blob> pack(const std::string& text, const char* type) const {
    auto packed = image::compressed(text);
    if (packed.size() > largest_packed_text || text.size() > largest_remembered_text) {
      return std::nullopt;
    }
    if (packed.size() <= largest_kept_text) {
      kept_.put(packed);
    }
    return new_blob(std::move(packed), type);
  }

  const RememberedFacts& before_;
  const state::BlobCache& kept_;
  PackedTexts packed_{};
};

/// Returns the texts in `lists` whose key is in `keys`.
std::map<std::string, std::string> gathered(const std::string& lists,
                                            const std::set<std::string>& keys) {
  std::map<std::string, std::string> found;
  const json read = parse_json(lists);
  for (const auto& key : keys) {
    const auto text = read.is_object() ? read.find(key) : read.end();
    if (text != read.end() && text->is_string()) {
      found.emplace(key, text->get<std::string>());
    }
  }
  return found;
}

}  // namespace

registry::Blob new_blob(std::string bytes, const char* media_type) {
  return {.known =
              image::Descriptor{
                  .media_type = media_type, .digest = sha256(bytes), .size = bytes.size()},
          .open = registry::source_of(std::move(bytes)),
          .is_new = true};
}

const image::Descriptor* remembered_text(const RememberedFacts& facts, const std::string& key) {
  const auto found =
      std::ranges::find_if(facts.texts, [&](const auto& one) { return one.first == key; });
  return found != facts.texts.end() ? &found->second : nullptr;
}

PackedTexts pack_texts(const NewFacts& new_facts,
                       const RememberedFacts& before,
                       const state::BlobCache& kept) {
  Packing packing{before, kept};
  packing.add_texts(new_facts.texts);
  packing.add_lists(new_facts.lists);
  return packing.take();
}

std::vector<image::Descriptor> text_blobs(
    const std::vector<std::pair<std::string, image::Descriptor>>& texts) {
  std::vector<image::Descriptor> blobs;
  for (const auto& [key, blob] : texts) {
    const auto same = std::ranges::find_if(blobs, [&, &one = blob](const auto& other) {
      return other.digest == one.digest && other.media_type == one.media_type;
    });
    if (same != blobs.end()) {
      same->annotations[keys_annotation] += " " + key;
    } else {
      blobs.push_back(blob);
      blobs.back().annotations = {{keys_annotation, key}};
    }
  }
  return blobs;
}

std::map<std::string, std::string> read_texts(registry::Repository& repository,
                                              const image::Descriptor& blob,
                                              const std::set<std::string>& keys,
                                              const state::BlobCache& kept) {
  const auto text =
      image::decompressed(packed_text(repository, blob, kept), largest_remembered_text);
  if (blob.media_type == lists_type) {
    return gathered(text, keys);
  }
  std::map<std::string, std::string> texts;
  for (const auto& key : keys) {
    texts.emplace(key, text);
  }
  return texts;
}

}  // namespace autopack
