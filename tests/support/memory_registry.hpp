#pragma once

#include "http/client.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::testing {

/// A registry in memory that responds as Debian's docker-registry does: the transcripts of
/// registry_cases.hpp are the same for both.
class MemoryRegistry final : public http::Client {
public:
  /// `has_referrers`: it has the API for referrers of OCI distribution 1.1, which Debian's lacks.
  explicit MemoryRegistry(bool has_referrers = false) : has_referrers_{has_referrers} {}

  http::Response send(const http::Request& request) override;
  std::unique_ptr<http::Stream> upgrade(const http::Request& request) override;

  /// Returns `METHOD /v2/...` of every request, in order of arrival; several threads send at once.
  std::vector<std::string> requests() const;

  /// Returns the manifest for `reference` (a tag or a digest) in `repository`; empty if there is
  /// none.
  std::string manifest(const std::string& repository, const std::string& reference) const;

  std::string blob(const std::string& digest) const;

  std::size_t blob_count() const;

  /// Stores an image of one layer under `tag`; returns the digest of its manifest.
  std::string add_image(const std::string& repository,
                        const std::string& tag,
                        const std::string& configuration,
                        const std::string& layer);

  void remove_tag(const std::string& repository, const std::string& tag);

private:
  struct Repository {
    std::map<std::string, std::string> manifests{};  ///< by digest
    std::map<std::string, std::string> tags{};       ///< to a digest
    std::map<std::string, bool> blobs{};             ///< existing digests
  };

  http::Response answer(const http::Request& request,
                        std::string_view path,
                        const std::string& body);
  http::Response manifests(const http::Request& request,
                           const std::string& name,
                           const std::string& reference,
                           const std::string& body);
  http::Response referrers(const std::string& name, const std::string& subject);
  http::Response blobs(const http::Request& request,
                       const std::string& name,
                       const std::string& digest);
  http::Response begin_upload(const std::string& name, std::string_view query);
  http::Response upload(const http::Request& request,
                        const std::string& name,
                        const std::string& id,
                        std::string_view query,
                        const std::string& body);

  bool has_referrers_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_{};
  std::map<std::string, Repository> repositories_{};
  std::map<std::string, std::string> blobs_{};    ///< by digest
  std::map<std::string, std::string> uploads_{};  ///< data so far, by id
  int next_upload_{0};
};

}  // namespace autopack::testing
