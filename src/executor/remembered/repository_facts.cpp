#include "executor/remembered/repository_facts.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "executor/remembered/facts_format.hpp"
#include "executor/remembered/remembered_texts.hpp"
#include "executor/remembered/written_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace autopack {

namespace {

using namespace facts_format;

constexpr std::size_t connections{8};

std::string tag_of(const Digest& executor, const std::string& platform) {
  return "apn-" + sha256(fmt::format("notes {} {} {}", version, executor.str(), platform))
                      .hex()
                      .substr(0, 16);
}

/// Returns the JSON that `manifest` names, and also caches it on this machine.
std::string index_text(registry::Repository& repository,
                       const image::Manifest& manifest,
                       const state::BlobCache& blobs) {
  auto text = blobs.get(manifest.config.digest);
  if (!text) {
    text = repository.read_blob(manifest.config);
    blobs.put(*text);
  }
  return std::move(*text);
}

std::optional<RememberedFacts> read_from(registry::Repository& repository,
                                         const state::BlobCache& blobs,
                                         const Digest& executor,
                                         const std::string& platform) {
  const auto tag = tag_of(executor, platform);
  const auto stored = repository.manifest(tag);
  if (!stored) {
    return std::nullopt;
  }
  const auto manifest = image::parse_manifest(stored->text, "the manifest of `" + tag + "`");
  if (manifest.config.media_type != index_type || manifest.config.size > largest_index) {
    return std::nullopt;
  }
  return read_facts(manifest, index_text(repository, manifest, blobs), executor, platform);
}

/// Returns `first`, followed by the entries of `old` with other keys.
template <class Value>
std::vector<std::pair<std::string, Value>> merged(
    std::vector<std::pair<std::string, Value>> first,
    const std::vector<std::pair<std::string, Value>>& old,
    std::size_t most) {
  std::set<std::string> keys;
  for (const auto& one : first) {
    keys.insert(one.first);
  }
  std::ranges::copy_if(old, std::back_inserter(first),
                       [&](const auto& one) { return !keys.contains(one.first); });
  first.erase(first.begin() + static_cast<std::ptrdiff_t>(std::min(first.size(), most)),
              first.end());
  return first;
}

/// Writes `new_facts` in addition to the facts in `before` with other keys. `seen` are the facts
/// that were known when `new_facts` was determined.
void write(const FactsTarget& to,
           NewFacts new_facts,
           const RememberedFacts& before,
           const RememberedFacts& seen) {
  auto& [target, blobs, executor, platform] = to;
  RememberedFacts after{.about = new_facts.about ? new_facts.about : before.about,
                        .layers = merged(std::move(new_facts.layers), before.layers, most_layers)};
  auto [sent, texts] = pack_texts(new_facts, seen, blobs);
  after.texts = merged(std::move(texts), before.texts, most_texts);
  if (sent.empty() && after.about == before.about && after.layers == before.layers) {
    return;
  }
  const auto index = facts_json(after, executor, platform);
  if (index.size() > largest_index) {
    return;
  }
  sent.push_back(new_blob(index, index_type));
  const image::Manifest manifest{.media_type = std::string{image::media_type::oci_manifest},
                                 .config = *sent.back().known,
                                 .layers = text_blobs(after.texts)};
  registry::push_blobs(target, sent, {});
  blobs.put(index);
  auto text = image::to_json(manifest);
  const auto digest = sha256(text);
  target.put_manifest(
      {.media_type = manifest.media_type, .text = std::move(text), .digest = digest},
      tag_of(executor, platform));
}

void keep_in(const FactsTarget& to, const RepositoryFacts::FindNewFacts& find) {
  const auto before =
      read_from(to.repository, to.blobs, to.executor, to.platform).value_or(RememberedFacts{});
  write(to, find(before), before, before);
}

/// Counts the layers of `new_facts` whose remembered contents differ.
std::size_t count_contradicted(const NewFacts& new_facts, const RememberedFacts& remembered) {
  return static_cast<std::size_t>(std::ranges::count_if(new_facts.layers, [&](const auto& own) {
    return std::ranges::any_of(remembered.layers, [&](const auto& other) {
      return other.first == own.first && other.second.diff_id != own.second.diff_id;
    });
  }));
}

/// Runs `work`; reports a repository's refusal as a detail.
template <class Work>
void or_report(Reporter& reporter, Work work) {
  try {
    work();
  } catch (const Error& error) {
    reporter.detail(fmt::format("remembered facts about the executor image: {}", error.what()));
  }
}

}  // namespace

RepositoryFacts::RepositoryFacts(Open open,
                                 std::filesystem::path directory,
                                 state::BlobCache blobs,
                                 Reporter& reporter)
    : open_{std::move(open)},
      directory_{std::move(directory)},
      blobs_{std::move(blobs)},
      reporter_{reporter} {}

std::shared_ptr<registry::Repository> RepositoryFacts::repository() {
  if (!repository_) {
    repository_ = open_();
  }
  return repository_;
}

void RepositoryFacts::read(const Digest& executor, const std::string& platform) {
  auto tag = tag_of(executor, platform);
  if (tag == tag_) {
    return;
  }
  tag_ = std::move(tag);
  facts_ = {};
  there_.clear();
  or_report(reporter_, [&] { repository(); });
  if (!repository_) {
    return;
  }
  reading_ = in_background(
      [&reporter = reporter_, blobs = blobs_, from = repository(), executor, platform] {
        RememberedFacts facts;
        or_report(reporter, [&] {
          facts = read_from(*from, blobs, executor, platform).value_or(RememberedFacts{});
        });
        return facts;
      });
}

const RememberedFacts& RepositoryFacts::facts() {
  if (reading_.valid()) {
    facts_ = reading_.get();
  }
  return facts_;
}

void RepositoryFacts::look_for_layers(const std::vector<std::string>& keys) {
  std::vector<const std::pair<std::string, image::LayerFacts>*> remembered;
  for (const auto& one : facts().layers) {
    if (!there_.contains(one.first) && contains(keys, one.first)) {
      remembered.push_back(&one);
    }
  }
  std::mutex mutex;
  or_report(reporter_, [&] {
    in_parallel(remembered.size(), connections, [&](std::size_t i) {
      const auto& layer = remembered[i]->second;
      if (repository()->has_blob(layer.digest, layer.size)) {
        const std::lock_guard lock{mutex};
        there_.insert(*remembered[i]);
      }
    });
  });
}

std::optional<image::LayerFacts> RepositoryFacts::layer(const std::string& key) const {
  const auto found = there_.find(key);
  return found != there_.end() ? std::optional{found->second} : std::nullopt;
}

bool RepositoryFacts::has_text(const std::string& key) {
  return remembered_text(facts(), key) != nullptr;
}

image::Reader RepositoryFacts::open_layer(const image::Descriptor& layer) {
  auto reader = registry::blob_source(*repository(), layer)();
  return [held = repository(), reader = std::move(reader)](char* buffer, std::size_t size) {
    return reader(buffer, size);
  };
}

std::map<std::string, std::string> RepositoryFacts::texts(const std::vector<std::string>& keys) {
  struct Blob {
    image::Descriptor known;
    std::set<std::string> keys{};
  };

  std::map<std::string, Blob> remembered;  // by digest
  for (const auto& [key, blob] : facts().texts) {
    if (contains(keys, key) && blob.size <= largest_packed_text) {
      remembered.try_emplace(blob.digest.str(), Blob{.known = blob}).first->second.keys.insert(key);
    }
  }
  std::vector<const Blob*> blobs;
  for (const auto& [digest, blob] : remembered) {
    blobs.push_back(&blob);
  }
  std::mutex mutex;
  std::map<std::string, std::string> found;
  or_report(reporter_, [&] {
    in_parallel(blobs.size(), connections, [&](std::size_t i) {
      auto texts = read_texts(*repository(), blobs[i]->known, blobs[i]->keys, blobs_);
      const std::lock_guard lock{mutex};
      found.merge(texts);
    });
  });
  return found;
}

void RepositoryFacts::keep(std::shared_ptr<registry::Repository> target,
                           const Digest& executor,
                           const std::string& platform,
                           FindNewFacts find) {
  keeping_ = in_background([&reporter = reporter_, blobs = blobs_, target = std::move(target),
                            executor, platform, find = std::move(find)] {
    or_report(reporter, [&] { keep_in({*target, blobs, executor, platform}, find); });
  });
}

std::size_t write_facts(Reporter& reporter,
                        const FactsTarget& target,
                        const RepositoryFacts::FindNewFacts& find,
                        OldFacts old) {
  std::size_t contradicted = 0;
  or_report(reporter, [&] {
    const auto before = read_from(target.repository, target.blobs, target.executor, target.platform)
                            .value_or(RememberedFacts{});
    auto new_facts = find(RememberedFacts{});
    contradicted = count_contradicted(new_facts, before);
    write(target, std::move(new_facts), old == OldFacts::replaced ? RememberedFacts{} : before,
          RememberedFacts{});
  });
  return contradicted;
}

}  // namespace autopack
