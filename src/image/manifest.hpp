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

/// Identifies a blob, as a manifest does for its configuration and layers.
struct Descriptor {
  std::string media_type{};
  Digest digest;
  std::uint64_t size{0};
  std::vector<std::string> urls{};  ///< of foreign layers; kept unchanged
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
  std::optional<std::string> platform{};  ///< `linux/arm64/v8`; absent if the index does not say
  std::optional<std::string> name{};      ///< annotation `org.opencontainers.image.ref.name`
};

/// True if `text` is an index (OCI) or a manifest list (Docker).
bool is_index(std::string_view text);
/// Throws Error(remote) naming `what` if `text` is not a manifest of schema 2 or OCI.
Manifest parse_manifest(std::string_view text, const std::string& what);
std::vector<IndexEntry> parse_index(std::string_view text, const std::string& what);
/// Returns the entry for `platform` (`linux/amd64`); compares the variant only if `platform` has
/// one. Throws Error(project) that lists the available platforms.
const IndexEntry& choose(const std::vector<IndexEntry>& entries,
                         const std::string& platform,
                         const std::string& what);
/// Returns compact JSON with a fixed order of keys.
std::string to_json(const Manifest& manifest);
/// Returns the entry as an OCI index writes it, without its name.
nlohmann::json index_entry(const IndexEntry& entry);
/// Returns an OCI index of such entries.
nlohmann::json index_of(nlohmann::json entries);

/// True if `created_by` of a history entry is a RUN step, as BuildKit or the classic builder writes
/// it.
bool is_run_step(std::string_view created_by);

/// The history entry of a dependency image whose versions were chosen at that entry's time.
inline constexpr std::string_view chosen_versions_step{"autopack: versions of open requirements"};

/// True if the time of a history entry is that of an installation: for a RUN step, and for
/// chosen_versions_step.
bool dates_an_installation(std::string_view created_by);

/// An image configuration (OCI image-spec config.md). Keeps fields that autopack does not know.
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
  /// Returns `Cmd`. Throws Error(remote) if it is not a list of words.
  std::vector<std::string> command() const;
  /// Returns the absolute directory in which a program starts, `/` if the image sets none. Throws
  /// Error(remote) if it is not a text.
  std::string working_directory() const;
  std::vector<std::string> environment() const;
  std::map<std::string, std::string> labels() const;
  std::vector<Digest> diff_ids() const;

  /// Returns `created_by` of each step of the history that made a layer, in order.
  std::vector<std::string> layer_steps() const;

  /// Returns `created` in seconds since 1970, or nothing if there is none, or no such time.
  std::optional<std::int64_t> created() const;

  /// Returns the times of the history's installations, in order, in seconds since 1970; omits
  /// those without a time.
  std::vector<std::int64_t> run_times() const;

  void set_user(const std::string& user);
  void set_working_directory(const std::string& directory);
  /// Also removes `Cmd`, as ENTRYPOINT of a Dockerfile does.
  void set_entrypoint(const std::vector<std::string>& words);
  /// Adds or replaces `name=value`.
  void set_environment(const std::string& name, const std::string& value);
  void set_label(const std::string& name, const std::string& value);
  /// Sets `created`, in RFC 3339 format.
  void set_created(std::int64_t seconds);
  void add_layer(const LayerFacts& layer, const std::string& created_by);
  /// A history entry without a layer; absent `seconds`: of the image's own time.
  void add_empty_history(const std::string& created_by,
                         std::optional<std::int64_t> seconds = std::nullopt);

  /// Returns compact JSON with sorted keys.
  std::string to_json() const;

private:
  explicit Configuration(nlohmann::json document);
  std::unique_ptr<nlohmann::json> document_;
};

}  // namespace autopack::image
