#pragma once

#include "base/digest.hpp"
#include "base/report.hpp"
#include "http/client.hpp"
#include "http/retry.hpp"
#include "image/manifest.hpp"
#include "image/source.hpp"
#include "registry/credentials.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::registry {

/// A manifest or an index, byte for byte as the registry holds it.
struct StoredManifest {
  std::string media_type{};
  std::string text{};
  Digest digest;  ///< of `text`
};

using Reader = image::Reader;
/// Gives a reader from the start, each time anew and with the same bytes: an upload that broke goes
/// on or starts again.
using BlobSource = std::function<Reader()>;

/// A source of bytes that are in memory.
BlobSource source_of(std::string bytes);

/// A blob to push.
struct Blob {
  /// Digest and size when they are known. Otherwise both are found while it is sent.
  std::optional<image::Descriptor> known{};
  BlobSource open{};
  /// Digest and size of what was read to its end, for whoever makes it reckons them; without it
  /// what is sent is hashed.
  std::function<image::Descriptor()> found{};
  /// Path of a repository of the same registry that has the blob; none when none is known to.
  std::optional<std::string> mount_from{};
  /// It was made just now and is small: sent without asking whether it is there.
  bool is_new{false};
};

struct PushedBlob {
  Digest digest;
  std::uint64_t size{0};
  bool uploaded{false};  ///< false: it was there already, or was mounted
};

/// Bytes of a blob on their way so far; starts again at 0 with an upload that starts again.
using Progress = std::function<void(std::uint64_t bytes)>;

/// A registry said no. The causes hold method, redacted URL, status and its own words; the hints
/// what mends it.
class Refused : public Error {
public:
  Refused(int status,
          std::optional<std::string> code,
          std::optional<std::string> retry_after,
          std::string message)
      : Error{ErrorKind::remote, std::move(message)},
        status_{status},
        code_{std::move(code)},
        retry_after_{std::move(retry_after)} {}

  int status() const { return status_; }

  /// The registry's own: `NAME_UNKNOWN`, `DENIED`; none when it gave none.
  const std::optional<std::string>& code() const { return code_; }

  /// The header's text.
  const std::optional<std::string>& retry_after() const { return retry_after_; }

private:
  int status_;
  std::optional<std::string> code_;
  std::optional<std::string> retry_after_;
};

enum class Access { pull, push };

/// One repository of one registry. Methods may be called from several threads at once; they try
/// again what is worth it, and throw Refused, http::TransportError or Error(interrupted).
class Repository {
public:
  virtual ~Repository() = default;
  /// That the login is accepted: for pulling by asking, for pushing by an upload that is given up.
  virtual void check_access() = 0;
  /// What `reference` (a tag or a digest) names; none when the registry does not have it.
  virtual std::optional<image::Descriptor> head_manifest(const std::string& reference) = 0;
  /// The manifest or index, its digest verified; none when the registry does not have it.
  virtual std::optional<StoredManifest> manifest(const std::string& reference) = 0;
  /// The manifest for `platform` (`linux/amd64`, `linux/arm64/v8`), looked up in the index when
  /// `reference` names one. Error(project) that lists the platforms when it has no such.
  virtual std::optional<StoredManifest> image_manifest(const std::string& reference,
                                                       const std::string& platform) = 0;
  /// Stores `manifest` under its digest and, when there is a `tag`, under that.
  virtual void put_manifest(const StoredManifest& manifest,
                            const std::optional<std::string>& tag) = 0;
  /// Returns whether the repository has the blob; false, too, if the registry says that it is not
  /// of `size`, where one is given.
  virtual bool has_blob(const Digest& digest, std::optional<std::uint64_t> size) = 0;
  /// Streams a blob; throws after the last byte when size or digest are not those of `blob`.
  virtual void fetch_blob(const image::Descriptor& blob,
                          const std::function<void(std::string_view)>& sink) = 0;
  /// A whole small blob (a configuration), verified; `blob.size` is at most 8 MiB.
  virtual std::string read_blob(const image::Descriptor& blob) = 0;
  virtual PushedBlob push_blob(const Blob& blob, const Progress& progress) = 0;
  /// Starts `count` uploads in the background for blobs that are new; returns at once. One that
  /// fails is not told of: push_blob then starts its own. What was not used is given up at the end.
  virtual void begin_uploads(std::size_t count) = 0;
  /// All tags, in the registry's order; empty when there is no such repository.
  virtual std::vector<std::string> tags() = 0;
};

struct RepositoryOptions {
  http::Client* client{nullptr};
  CredentialSource credentials{};  ///< may be empty: anonymous
  const Cancellation* cancellation{nullptr};
  http::Tls tls{};
  /// Makes the repository that a push finds missing (NAME_UNKNOWN: Artifact Registry makes none by
  /// itself); true when it is there now and the push may go on. Called once at most with success;
  /// may throw. Empty: the refusal is told.
  std::function<bool()> make_missing{};
  http::RetryLimits retries{};
  /// Waits between tries; a real sleep when empty.
  std::function<void(std::chrono::milliseconds)> sleep{};
};

/// `host` and `path` as in image::Reference. Nothing is asked before the first method is called.
std::unique_ptr<Repository> make_repository(const std::string& host,
                                            const std::string& path,
                                            Access access,
                                            RepositoryOptions options);

/// Pushes `blobs` over several connections; the results in the order of `blobs`. The first failure
/// stops the others. `progress` (index, bytes) and `ended`, for each blob that is there, are called
/// from one thread at a time; both may be empty.
std::vector<PushedBlob> push_blobs(
    Repository& repository,
    std::span<const Blob> blobs,
    const std::function<void(std::size_t index, std::uint64_t bytes)>& progress,
    std::size_t connections = 4,
    const std::function<void(std::size_t index, const PushedBlob& blob)>& ended = {});

/// A source that streams `blob` out of `from`, for a copy to another registry in flat memory.
BlobSource blob_source(Repository& from, const image::Descriptor& blob);

}  // namespace autopack::registry
