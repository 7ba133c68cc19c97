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

/// A manifest or an index, byte for byte as in the registry.
struct StoredManifest {
  std::string media_type{};
  std::string text{};
  Digest digest;  ///< of `text`
};

using Reader = image::Reader;
/// Returns a new reader from the start each time, with the same bytes, so that a broken upload can
/// continue or start again.
using BlobSource = std::function<Reader()>;

/// Returns a source of bytes in memory.
BlobSource source_of(std::string bytes);

/// A blob to push.
struct Blob {
  /// Digest and size, if known. Otherwise both are computed while the blob is sent.
  std::optional<image::Descriptor> known{};
  BlobSource open{};
  /// Returns digest and size after a reader reached its end, if its producer computes them. Without
  /// it, the sender hashes the bytes.
  std::function<image::Descriptor()> found{};
  /// Path of a repository of the same registry that has the blob; absent if there is none.
  std::optional<std::string> mount_from{};
  /// The blob was made just now and is small: sent without checking whether the registry has it.
  bool is_new{false};
};

struct PushedBlob {
  Digest digest;
  std::uint64_t size{0};
  bool uploaded{false};  ///< false: the registry had it, or mounted it
};

/// Called with the number of bytes sent so far; starts again at 0 if the upload does.
using Progress = std::function<void(std::uint64_t bytes)>;

/// A registry refused a request. The causes hold method, redacted URL, status and the registry's
/// message; the hints hold the fix.
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

  /// The registry's error code, such as `NAME_UNKNOWN` or `DENIED`; absent if it sent none.
  const std::optional<std::string>& code() const { return code_; }

  /// The text of the Retry-After header.
  const std::optional<std::string>& retry_after() const { return retry_after_; }

private:
  int status_;
  std::optional<std::string> code_;
  std::optional<std::string> retry_after_;
};

/// A manifest that refers to an image: a document about it (OCI distribution 1.1).
struct Referrer {
  image::Descriptor manifest;
  std::string artifact_type{};  ///< empty if the registry does not say
};

enum class Access { pull, push };

/// One repository of one registry. All methods are thread-safe. They retry where that can help, and
/// throw Refused, http::TransportError or Interrupted.
class Repository {
public:
  virtual ~Repository() = default;
  /// Checks that the registry accepts the login: for pulling with a query, for pushing with an
  /// upload that is then cancelled.
  virtual void check_access() = 0;
  /// Returns the target of `reference` (a tag or a digest), or nothing if the registry does not
  /// have it.
  virtual std::optional<image::Descriptor> head_manifest(const std::string& reference) = 0;
  /// Returns the manifest or index, with its digest verified, or nothing if the registry does not
  /// have it.
  virtual std::optional<StoredManifest> manifest(const std::string& reference) = 0;
  /// Returns the manifest for `platform` (`linux/amd64`, `linux/arm64/v8`), from the index if
  /// `reference` names one. Throws Error(project) that lists the platforms if the index does not
  /// have this one.
  virtual std::optional<StoredManifest> image_manifest(const std::string& reference,
                                                       const std::string& platform) = 0;
  /// Stores `manifest` under its digest and, if present, under `tag`. Returns true if the registry
  /// lists it in referrers() of its `subject`.
  virtual bool put_manifest(const StoredManifest& manifest,
                            const std::optional<std::string>& tag) = 0;
  /// Returns whether the repository has the blob; also returns false if `size` is given and the
  /// registry reports another size.
  virtual bool has_blob(const Digest& digest, std::optional<std::uint64_t> size) = 0;
  /// Streams a blob. Throws after the last byte if size or digest do not match `blob`.
  virtual void fetch_blob(const image::Descriptor& blob,
                          const std::function<void(std::string_view)>& sink) = 0;
  /// Returns a small blob (a configuration), verified. `blob.size` is at most 8 MiB.
  virtual std::string read_blob(const image::Descriptor& blob) = 0;
  virtual PushedBlob push_blob(const Blob& blob, const Progress& progress) = 0;
  /// Starts `count` uploads for new blobs in the background, and returns at once. Ignores failures:
  /// push_blob then starts an upload itself. Unused uploads are cancelled at the end.
  virtual void begin_uploads(std::size_t count) = 0;
  /// Returns all tags in the registry's order; empty if there is no such repository.
  virtual std::vector<std::string> tags() = 0;
  /// Returns the manifests that refer to the image `subject`, or nothing if the registry has no API
  /// for them (OCI distribution 1.0). Use find_referrers() unless only the API matters.
  virtual std::optional<std::vector<Referrer>> referrers(const Digest& subject) = 0;
};

struct RepositoryOptions {
  http::Client* client{nullptr};
  CredentialSource credentials{};  ///< empty: anonymous
  const Cancellation* cancellation{nullptr};
  http::Tls tls{};
  /// Creates the repository if a push finds that it is missing (NAME_UNKNOWN: Artifact Registry
  /// does not create repositories by itself). Returns true if it exists now and the push can
  /// continue. Succeeds at most once; may throw. If empty, the refusal is reported.
  std::function<bool()> make_missing{};
  http::RetryLimits retries{};
  /// Waits between tries; if empty, sleeps.
  std::function<void(std::chrono::milliseconds)> sleep{};
};

/// `host` and `path` are those of image::Reference. Sends no request before the first method call.
std::unique_ptr<Repository> make_repository(const std::string& host,
                                            const std::string& path,
                                            Access access,
                                            RepositoryOptions options);

/// Pushes `blobs` over several connections; returns the results in the order of `blobs`. The first
/// failure stops the others. `progress` (index, bytes) and `ended` (once for each blob that is in
/// the registry) are called from one thread at a time; both may be empty.
std::vector<PushedBlob> push_blobs(
    Repository& repository,
    std::span<const Blob> blobs,
    const std::function<void(std::size_t index, std::uint64_t bytes)>& progress,
    std::size_t connections = 4,
    const std::function<void(std::size_t index, const PushedBlob& blob)>& ended = {});

/// Returns a source that streams `blob` from `from`, to copy it to another registry with constant
/// memory.
BlobSource blob_source(Repository& from, const image::Descriptor& blob);

/// Copies the image or index `digest` with everything that it names, byte for byte, and gives it
/// `tag`, if present. `mount_from` is the path of `from` if both are of one registry.
/// Returns the number of bytes sent. Throws Error(remote) if `from` lacks a part of it.
std::uint64_t copy_image(Repository& from,
                         Repository& to,
                         const Digest& digest,
                         const std::optional<std::string>& tag,
                         const std::optional<std::string>& mount_from);

}  // namespace autopack::registry
