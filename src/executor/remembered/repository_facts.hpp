#pragma once

#include "base/background.hpp"
#include "base/digest.hpp"
#include "base/report.hpp"
#include "image/layer.hpp"
#include "image/manifest.hpp"
#include "registry/client.hpp"
#include "state/blob_cache.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack {

/// The remembered facts about an executor image, as read from a repository.
struct RememberedFacts {
  std::optional<std::string> about{};  ///< the executor image's own facts, in JSON
  std::vector<std::pair<std::string, image::LayerFacts>> layers{};  ///< by key, newest first
  /// By key, newest first, each with its blob, which contains only this text or several lists.
  std::vector<std::pair<std::string, image::Descriptor>> texts{};

  bool operator==(const RememberedFacts&) const = default;
};

/// Returns the JSON that read_facts() accepts, without the texts.
std::string facts_json(const RememberedFacts& facts,
                       const Digest& executor,
                       const std::string& platform);

/// Combines `text` with the blobs that `manifest` names. Returns nothing if either is damaged, too
/// long, in another format or about another executor image.
std::optional<RememberedFacts> read_facts(const image::Manifest& manifest,
                                          std::string_view text,
                                          const Digest& executor,
                                          const std::string& platform);

/// New facts about an executor image.
struct NewFacts {
  std::optional<std::string> about{};  ///< absent: unchanged
  std::vector<std::pair<std::string, image::LayerFacts>> layers{};
  std::map<std::string, std::string> texts{};  ///< replace the remembered texts
  /// texts that are determined by their keys: written once
  std::map<std::string, std::string> lists{};
};

/// The facts that a repository remembers about an executor image and the layers that were put on
/// it, for machines with an empty cache. They have a tag of their own, whose manifest names JSON
/// and small texts. They are read only from the repository that the image is pushed to: whoever can
/// change them can also change the images there under the tags of their keys, which are trusted. If
/// a repository has none, or refuses them, that causes a detail line and no error.
class RepositoryFacts {
public:
  using Open = std::function<std::shared_ptr<registry::Repository>()>;

  /// `open` opens the repository for reading, on first use. `directory` caches on this machine what
  /// the repository returned, apart from facts that were determined here. `reporter` must outlive
  /// it.
  RepositoryFacts(Open open,
                  std::filesystem::path directory,
                  state::BlobCache blobs,
                  Reporter& reporter);

  const std::filesystem::path& directory() const { return directory_; }

  /// Starts to read the facts about `executor`; the other methods return them. Call it once for
  /// each executor image.
  void read(const Digest& executor, const std::string& platform);

  /// Returns the executor image's own facts, or nothing if there are none.
  const std::optional<std::string>& about() { return facts().about; }

  /// Asks the repository which of the remembered layers `keys` it still has.
  void look_for_layers(const std::vector<std::string>& keys);

  /// Returns a layer that look_for_layers() found, or nothing.
  std::optional<image::LayerFacts> layer(const std::string& key) const;

  bool has_text(const std::string& key);

  /// Reads a layer that layer() returned.
  image::Reader open_layer(const image::Descriptor& layer);

  /// Returns those of the texts `keys` that are remembered.
  std::map<std::string, std::string> texts(const std::vector<std::string>& keys);

  /// Determines the new facts, given the remembered ones.
  using FindNewFacts = std::function<NewFacts(const RememberedFacts& remembered)>;

  /// Adds the new facts about `executor` to the remembered ones in `target`, the repository. Works
  /// in the background; the destructor waits for it.
  void keep(std::shared_ptr<registry::Repository> target,
            const Digest& executor,
            const std::string& platform,
            FindNewFacts find);

private:
  const RememberedFacts& facts();
  std::shared_ptr<registry::Repository> repository();

  Open open_;
  std::filesystem::path directory_;
  state::BlobCache blobs_;
  Reporter& reporter_;
  std::shared_ptr<registry::Repository> repository_{};
  std::optional<std::string> tag_{};  ///< of the facts that were read; absent before
  Background<RememberedFacts> reading_{};
  RememberedFacts facts_{};
  std::map<std::string, image::LayerFacts> there_{};  ///< layers that the repository has
  Background<void> keeping_{};
};

}  // namespace autopack
