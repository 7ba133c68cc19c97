#pragma once

#include "base/digest.hpp"
#include "image/layer.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::image {

/// Media types of the OCI image specification 1.1 and of Docker's schema 2.
namespace media_type {
inline constexpr std::string_view oci_index = "application/vnd.oci.image.index.v1+json";
inline constexpr std::string_view oci_manifest = "application/vnd.oci.image.manifest.v1+json";
inline constexpr std::string_view oci_config = "application/vnd.oci.image.config.v1+json";
inline constexpr std::string_view oci_layer = "application/vnd.oci.image.layer.v1.tar+gzip";
inline constexpr std::string_view oci_plain_layer = "application/vnd.oci.image.layer.v1.tar";
inline constexpr std::string_view docker_list =
    "application/vnd.docker.distribution.manifest.list.v2+json";
inline constexpr std::string_view docker_manifest =
    "application/vnd.docker.distribution.manifest.v2+json";
inline constexpr std::string_view docker_config = "application/vnd.docker.container.image.v1+json";
inline constexpr std::string_view docker_layer =
    "application/vnd.docker.image.rootfs.diff.tar.gzip";
}  // namespace media_type

/// Names a blob: what a manifest says of its configuration and its layers.
struct Descriptor {
  std::string media_type{};
  Digest digest;
  std::uint64_t size{0};
  std::vector<std::string> urls{};  ///< foreign layers; kept as they are
  std::map<std::string, std::string> annotations{};

  bool operator==(const Descriptor&) const = default;
};

/// An image manifest, OCI or Docker schema 2.
struct Manifest {
  std::string media_type{};
  Descriptor config;
  std::vector<Descriptor> layers{};
  std::map<std::string, std::string> annotations{};

  bool is_oci() const { return media_type == media_type::oci_manifest; }
};

/// One image of an index.
struct IndexEntry {
  Descriptor manifest;
  std::optional<std::string> platform{};  ///< `linux/arm64/v8`; none when the index does not say
  std::optional<std::string> name{};      ///< annotation `org.opencontainers.image.ref.name`
};

/// True when `text` is an index (OCI) or a manifest list (Docker).
bool is_index(std::string_view text);
/// Throws Error(remote) naming `what` when `text` is no manifest of schema 2 or OCI.
Manifest parse_manifest(std::string_view text, const std::string& what);
std::vector<IndexEntry> parse_index(std::string_view text, const std::string& what);
/// The entry for `platform` (`linux/amd64`); a variant is looked at only when `platform` has one.
/// Throws Error(project) listing the platforms there are.
const IndexEntry& choose(const std::vector<IndexEntry>& entries,
                         const std::string& platform,
                         const std::string& what);
/// Compact JSON with a fixed order of keys.
std::string to_json(const Manifest& manifest);
/// What an OCI index says of an image; its name is left out.
nlohmann::json index_entry(const IndexEntry& entry);
/// An OCI index of such entries.
nlohmann::json index_of(nlohmann::json entries);

/// True when a history's `created_by` is a RUN step, as BuildKit or the classic builder writes it.
bool is_run_step(std::string_view created_by);

/// An image configuration (OCI image-spec config.md); fields autopack does not know are kept.
class Configuration {
public:
  /// Throws Error(remote) naming `what`.
  static Configuration parse(std::string_view text, const std::string& what);

  Configuration(const Configuration& other);
  Configuration(Configuration&& other) noexcept;
  Configuration& operator=(const Configuration& other);
  Configuration& operator=(Configuration&& other) noexcept;
  ~Configuration();

  std::string platform() const;
  std::string user() const;
  std::vector<std::string> entrypoint() const;
  std::vector<std::string> environment() const;
  std::map<std::string, std::string> labels() const;
  std::vector<Digest> diff_ids() const;

  /// When the history's RUN steps ran, in its order, in seconds since 1970; those without a time
  /// are left out.
  std::vector<std::int64_t> run_times() const;

  void set_user(const std::string& user);
  void set_working_directory(const std::string& directory);
  /// Also removes `Cmd`, as ENTRYPOINT of a Dockerfile does.
  void set_entrypoint(const std::vector<std::string>& words);
  /// Adds or replaces `name=value`.
  void set_environment(const std::string& name, const std::string& value);
  void set_label(const std::string& name, const std::string& value);
  /// `created`, RFC 3339 from seconds since 1970.
  void set_created(std::int64_t seconds);
  void add_layer(const LayerFacts& layer, const std::string& created_by);
  /// A history entry without a layer.
  void add_empty_history(const std::string& created_by);

  /// Compact JSON with sorted keys.
  std::string to_json() const;

private:
  explicit Configuration(nlohmann::json document);
  std::unique_ptr<nlohmann::json> document_;
};

}  // namespace autopack::image
