#pragma once

#include "base/new_file.hpp"
#include "base/report.hpp"
#include "build/docker/build_context.hpp"
#include "google/storage.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace autopack::build {

/// What a build in Cloud Build gets: the same tar as a docker engine, compressed.
class PackedSource {
public:
  /// Writes it to a temporary file.
  PackedSource(Services& services, const ContextParts& parts);

  std::uint64_t size() const { return size_; }

  /// Returns "3 files (2 added by autopack)".
  std::string files_text() const;

  /// Returns a name for it in a bucket, from its contents and `tag`, which no other build has: two
  /// runs do not delete each other's source.
  std::string object_name(const std::string& tag) const;

  /// Returns `size` bytes from `offset`.
  std::string read(std::uint64_t offset, std::size_t size) const;

private:
  std::unique_ptr<NewFile> file_;
  std::uint64_t size_{0};
  std::size_t files_{0};  ///< without the Dockerfile
  std::size_t added_{0};  ///< of them, those that no tree has
  std::string hash_{};
};

/// A source in a bucket, which is deleted at the end, whatever happens before.
class SentSource {
public:
  /// Sends `source` as `object`. `remove` must also work after an interruption.
  SentSource(const google::Storage& storage,
             std::function<void(const google::StoredObject& object)> remove,
             Reporter& reporter,
             const PackedSource& source,
             google::StoredObject object);
  ~SentSource();
  SentSource(const SentSource&) = delete;
  SentSource& operator=(const SentSource&) = delete;
  SentSource(SentSource&&) = delete;
  SentSource& operator=(SentSource&&) = delete;

  const google::StoredObject& object() const { return object_; }

private:
  void remove() noexcept;

  std::function<void(const google::StoredObject& object)> remove_;
  Reporter& reporter_;
  google::StoredObject object_;
};

}  // namespace autopack::build
