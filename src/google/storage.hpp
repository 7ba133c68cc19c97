#pragma once

#include "google/service.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace autopack::google {

/// An object of Cloud Storage, in one version.
struct StoredObject {
  std::string bucket{};
  std::string name{};
  std::string generation{};

  /// Returns `gs://BUCKET/NAME`.
  std::string url() const { return "gs://" + bucket + "/" + name; }
};

/// An object to upload.
struct Upload {
  std::string bucket{};
  std::string name{};  ///< that no other object has
  std::string content_type{"application/octet-stream"};
  std::uint64_t size{0};
  /// Returns `size` bytes from `offset`.
  std::function<std::string(std::uint64_t offset, std::size_t size)> read{};
  std::function<void(std::uint64_t bytes)> progress{};  ///< may be empty
};

/// A part of an object that grows.
struct ObjectPart {
  std::string bytes{};
  bool is_there{true};  ///< false: there is no such object yet
};

/// The methods of Cloud Storage's JSON API for objects.
class Storage {
public:
  /// `endpoint_override` is CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE, without its `/storage/v1`.
  Storage(Service& service, std::optional<std::string> endpoint_override);

  /// Returns those of `permissions` on the bucket that the user lacks; nothing if there is no such
  /// bucket.
  std::optional<std::vector<std::string>> missing_permissions(
      const std::string& bucket, const std::vector<std::string>& permissions) const;
  /// Returns true if the bucket belongs to `project`. Anybody can make a bucket of any name.
  bool is_in_project(const std::string& bucket, const std::string& project) const;
  /// Uploads in pieces, continues after failures, and never replaces an object.
  StoredObject upload(const Upload& upload) const;
  /// Not an error if it is already gone.
  void remove(const StoredObject& object) const;
  /// Returns at most `size` bytes of the object from `offset`. Tries once.
  ObjectPart read(const StoredObject& object, std::uint64_t offset, std::size_t size) const;

  /// Returns the same over another service.
  Storage over(Service& service) const { return {service, override_}; }

private:
  std::string root() const;
  std::string begin(const Upload& upload) const;
  std::optional<StoredObject> find(const Upload& upload) const;

  Service* service_;
  std::optional<std::string> override_;
};

}  // namespace autopack::google
