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

/// The notes on an executor image, as they were read.
struct Notes {
  std::optional<std::string> about{};                               ///< JSON of the executor image
  std::vector<std::pair<std::string, image::LayerFacts>> layers{};  ///< by key, the newest first
  /// By key, the newest first, each with the blob that it is in: alone, or among lists.
  std::vector<std::pair<std::string, image::Descriptor>> texts{};

  bool operator==(const Notes&) const = default;
};

/// The JSON that read_notes() takes, without the texts.
std::string notes_json(const Notes& notes, const Digest& executor, const std::string& platform);

/// `text` and the blobs of texts that `manifest` names. None when either is damaged, too long, of
/// another format or of another executor image.
std::optional<Notes> read_notes(const image::Manifest& manifest,
                                std::string_view text,
                                const Digest& executor,
                                const std::string& platform);

/// What is to be kept of an executor image.
struct News {
  std::optional<std::string> about{};  ///< none: as it was
  std::vector<std::pair<std::string, image::LayerFacts>> layers{};
  std::map<std::string, std::string> texts{};  ///< take the place of what is noted
  std::map<std::string, std::string> lists{};  ///< texts that follow from their keys: noted once
};

/// The notes that a repository keeps of an executor image and of the layers that were put on it,
/// for machines that know nothing yet: under a tag of their own, a manifest that names JSON and
/// small texts. They are looked for only in the repository that an image goes to: who can change
/// them can as well change the images there under the tags of their keys, which are believed. A
/// repository that has none, or takes none, costs a detail line and no error.
class RepositoryNotes {
public:
  using Open = std::function<std::shared_ptr<registry::Repository>()>;

  /// `open` opens the repository for reading, when it is first needed. What it told is kept on this
  /// machine in `directory`, apart from what was found here. `reporter` must outlive it.
  RepositoryNotes(Open open,
                  std::filesystem::path directory,
                  state::BlobCache blobs,
                  Reporter& reporter);

  const std::filesystem::path& directory() const { return directory_; }

  /// Begins to read the notes on `executor`, of which the other methods then tell; once for each.
  void read(const Digest& executor, const std::string& platform);

  /// What is noted of the executor image; none when nothing is.
  const std::optional<std::string>& about() { return notes().about; }

  /// Asks the repository which of the layers `keys`, as far as they are noted, it still has.
  void look_for_layers(const std::vector<std::string>& keys);

  /// A layer that look_for_layers() found there; none else.
  std::optional<image::LayerFacts> layer(const std::string& key) const;

  bool has_text(const std::string& key);

  /// Reads a layer that layer() gave.
  image::Reader open_layer(const image::Descriptor& layer);

  /// Those of the texts `keys` that are noted.
  std::map<std::string, std::string> texts(const std::vector<std::string>& keys);

  /// Finds news in view of what is noted.
  using FindNews = std::function<News(const Notes& noted)>;

  /// Keeps the news of `executor` in `target`, the repository, beside what is noted there; in the
  /// background, which the destructor waits for.
  void keep(std::shared_ptr<registry::Repository> target,
            const Digest& executor,
            const std::string& platform,
            FindNews find);

private:
  const Notes& notes();
  std::shared_ptr<registry::Repository> repository();

  Open open_;
  std::filesystem::path directory_;
  state::BlobCache blobs_;
  Reporter& reporter_;
  std::shared_ptr<registry::Repository> repository_{};
  std::optional<std::string> tag_{};  ///< of the notes that were read; none before
  Background<Notes> reading_{};
  Notes notes_{};
  std::map<std::string, image::LayerFacts> there_{};  ///< layers that the repository has
  Background<void> keeping_{};
};

}  // namespace autopack
