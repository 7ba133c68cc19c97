#pragma once

#include "base/digest.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/report.hpp"
#include "base/secret.hpp"
#include "base/url.hpp"
#include "engine/build_failure.hpp"
#include "http/client.hpp"
#include "image/facts.hpp"
#include "image/reference.hpp"
#include "image/source.hpp"
#include "image/tar.hpp"
#include "registry/credentials.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::engine {

/// Variables of containers and build steps, such as `HTTP_PROXY` and `http_proxy`, by name. A value
/// may hold a login.
using Proxies = std::map<std::string, Secret>;

/// Returns what `proxies` of docker's config.json sets for the engine at `url`, as docker's command
/// line does; nothing if the file does not exist or cannot be read.
Proxies find_proxies(const Environment& environment, const std::string& url);

class SshTunnel;

/// The address of a Docker Engine, and its source.
struct Endpoint {
  std::string url{};  ///< `unix:///var/run/docker.sock`, `tcp://host:2376`, `ssh://user@host`
  http::Tls tls{};    ///< for tcp with TLS
  bool use_tls{false};
  std::string origin{"the default"};    ///< "DOCKER_HOST", "docker context `name`"
  std::shared_ptr<SshTunnel> tunnel{};  ///< for ssh
  /// Nothing listens at `url`, but podman is installed and can: start `podman system service`.
  bool starts_podman{false};

  /// Returns true if the engine can access this machine's files.
  bool is_local() const { return url.starts_with("unix://"); }

  /// Returns the address for messages, without a login; ssh's user is none.
  std::string text() const { return tunnel ? url : redact_url(url); }
};

/// Returns the endpoint of `flag` (`--engine-host`), else of DOCKER_HOST (with DOCKER_TLS_VERIFY,
/// DOCKER_CERT_PATH), DOCKER_CONTEXT, or `currentContext` of config.json. If none of them names
/// one, returns the first socket that accepts a connection: the default, those of a rootless
/// engine, Docker Desktop, OrbStack, Colima, Rancher Desktop and Podman; else Podman's if it is
/// installed, else the default. Throws Error(usage) for an unsupported value.
Endpoint find_endpoint(const Environment& environment,
                       const std::optional<std::string>& flag = std::nullopt,
                       const std::filesystem::path& default_socket = "/var/run/docker.sock");

struct EngineInfo {
  std::string version{};
  std::string api_version{};  ///< negotiated
  std::string platform{};     ///< of the engine: `linux/amd64`
  bool buildkit{false};
  /// The engine keeps its images in containerd's store, from which its BuildKit (before 28.0)
  /// cannot read an uploaded context. So `buildkit` is false. Source: moby's commit 8d5cf1db1e.
  bool store_lacks_upload{false};
  bool podman{false};
  bool reports_origin{false};  ///< Docker::repositories_with returns a result
};

/// An image in the engine.
struct LocalImage {
  std::string id{};  ///< `sha256:...` of the configuration; with `id_is_manifest`, of the manifest
  std::vector<std::string> repository_digests{};
  /// The engine keeps its images in containerd's store. Then `repository_digests` contains every
  /// name of the image, even if no registry has it.
  bool id_is_manifest{false};
  std::string platform{};
  std::string user{};
  std::vector<std::string> entrypoint{};
  std::vector<std::string> environment{};
  std::map<std::string, std::string> labels{};
  std::vector<std::string> layers{};  ///< diffIDs, from the base upwards
};

/// The files that a build sends to the engine, and its names for people.
class BuildContext {
public:
  virtual ~BuildContext() = default;
  /// Returns the path of the Dockerfile in the context.
  virtual std::string dockerfile_path() const = 0;
  /// Writes the context as a tar. The same context gives the same bytes.
  virtual void write(const std::function<void(std::string_view bytes)>& out) const = 0;
  /// Returns the name for people of the engine's step `step`.
  virtual std::string step_name(std::string_view step) const = 0;
  /// Returns the error for a failed build.
  virtual Error error_of(const BuildFailure& failure) const = 0;
};

struct BuildRequest {
  const BuildContext* context{nullptr};  ///< must not be null, and must outlive the build
  std::vector<std::string> tags{};
  std::map<std::string, std::string> labels{};
  std::optional<std::string> target{};  ///< stage; absent: the last
  /// The network of build steps: `host`; absent: the engine's default.
  std::optional<std::string> network_mode{};
  std::string platform{};
  bool no_cache{false};
  bool buildkit{true};
};

struct BuildResult {
  std::string image_id{};
  std::uint64_t context_bytes{0};
  int steps{0};
  int cached_steps{0};
};

struct PushResult {
  Digest digest;
  std::uint64_t bytes_uploaded{0};  ///< uncompressed, as the engine reports it

  struct PushedLayer {
    std::string id{};       ///< as the engine shortens it
    std::uint64_t size{0};  ///< uncompressed bytes; 0 if the registry already had it
    bool uploaded{false};
  };

  std::vector<PushedLayer> layers{};  ///< empty from Podman, which does not report them
};

/// An image in an engine's list.
struct ListedImage {
  std::string id{};                  ///< `sha256:...` of the configuration
  std::vector<std::string> names{};  ///< `repository:tag`; empty if it has no name any more
  std::map<std::string, std::string> labels{};
  std::uint64_t size{0};   ///< of its unpacked layers, including shared ones
  std::int64_t tagged{0};  ///< when it got its last name here, in seconds since 1970; 0 if unknown
};

struct ContainerSpec {
  std::string image{};
  std::vector<std::string> arguments{};
  std::vector<std::string> command{};  ///< replaces the entry point if not empty
  std::map<std::string, std::string> environment{};

  struct Mount {
    std::string host_path{};
    std::string container_path{};
    bool read_only{true};
    std::string selinux_label{};  ///< `z` (shared) or `Z` (private): the engine labels the files
  };

  std::vector<Mount> mounts{};

  /// A published port of the container.
  struct Port {
    std::optional<std::string> host_address{};  ///< absent: all addresses
    std::optional<std::string> host_port{};     ///< absent: the engine picks one
    std::string container_port{};               ///< with its protocol: `6006/tcp`
  };

  std::vector<Port> ports{};
  bool gpus{false};           ///< all, or `gpu_count` of them, by device request
  std::int64_t gpu_count{0};  ///< 0 = all
  /// Only these, instead of all: numbers and ids of the driver (`0`, `GPU-8f...`), or CDI's names
  /// (`nvidia.com/gpu=0`), not both.
  std::vector<std::string> gpu_ids{};
  bool host_ipc{true};
  std::optional<std::string> network_mode{};  ///< absent: the engine's default
  std::optional<std::string> host_name{};     ///< also its name on its own network
  std::uint64_t shared_memory{0};             ///< bytes of /dev/shm; 0 = the engine's default
  std::uint64_t memory{0};                    ///< limit in bytes; 0 = no limit
  double processors{0};                       ///< limit; 0 = no limit
  std::map<std::string, std::string> labels{};
  bool tty{false};
  bool interactive{false};  ///< standard input is passed on
};

/// The streams of a container.
struct ContainerStreams {
  int input{-1};  ///< descriptor; -1 = closed
  std::function<void(std::string_view)> output{};
  std::function<void(std::string_view)> errors{};
  int watched{-1};  ///< descriptor; -1 = none
  /// Called whenever `watched` is readable; true stops the container: it gets SIGTERM, and is
  /// killed a second later.
  std::function<bool()> stops{};
  std::function<void(int signal)> forwarded{};  ///< called for each signal that is passed on
};

class Containers;

/// The files of an image in an engine.
class ImageFiles {
public:
  virtual ~ImageFiles() = default;
  /// Returns those of `paths` that exist, with the final target if the path is a symbolic link.
  virtual std::map<std::string, std::optional<std::string>> probe(
      const std::vector<std::string>& paths) = 0;
  /// Returns the file `path`, or the directory with everything below it, as a tar whose names begin
  /// with the last part of `path`; does not follow a link at its end. Throws Error(remote) if it
  /// does not exist. Thread-safe.
  virtual image::Reader archive(const std::string& path) = 0;
};

/// One Docker Engine (or Podman's compatible socket). Methods throw Error(environment) if the
/// engine is not running, with the source of its address and the remedy.
class Docker {
public:
  virtual ~Docker() = default;
  /// Negotiated once, then cached.
  virtual const EngineInfo& info() = 0;

  /// Returns true if the engine can access this machine's files. Does not ask the engine.
  virtual bool is_local() const { return true; }

  /// Returns nothing if the engine does not have the image.
  virtual std::optional<LocalImage> inspect(const std::string& reference) = 0;
  /// Returns the repositories (`docker.io/library/python`) that the image `reference` was pulled
  /// from or pushed to. Returns nothing if the engine does not report them: one without
  /// EngineInfo::tells_origin.
  virtual std::optional<std::vector<std::string>> repositories_with(
      const std::string& reference) = 0;
  /// Returns the digest that the registry has for `reference` now, through the engine. Throws
  /// Error(remote) if the registry does not respond, refuses, or has no such image or platform.
  virtual Digest resolve(const image::Reference& reference) = 0;
  virtual void pull(const image::Reference& reference, const std::string& platform) = 0;
  virtual BuildResult build(const BuildRequest& request) = 0;
  virtual void tag(const std::string& image, const image::Reference& name) = 0;
  virtual PushResult push(const image::Reference& name) = 0;
  /// Removes a name or an image; not an error if it is already gone.
  virtual void remove_image(const std::string& reference) = 0;
  /// Returns the images that have `label`, whatever its value.
  virtual std::vector<ListedImage> list_images(const std::string& label) = 0;
  /// Returns the names of containers left by ended autopack runs.
  virtual std::vector<std::string> left_containers() = 0;
  /// Removes one of them; not an error if it is already gone.
  virtual void remove_container(const std::string& name) = 0;
  /// Writes the image `name` to `sink` as the tar of `docker save`.
  virtual void save(const std::string& name, const std::function<void(std::string_view)>& sink) = 0;
  /// Loads the images of a tar like `docker load`: `read` fills a buffer and returns 0 at the end.
  virtual void load(const std::function<std::size_t(char* buffer, std::size_t size)>& read) = 0;
  /// Returns the image `name` as a parent for layers, with its configuration from the engine. Its
  /// layers stay in the engine: reading one throws. Returns nothing if the engine lacks the image,
  /// or cannot load images without their lower layers (Podman, containerd's store).
  virtual std::optional<image::Source> held(const std::string& name) = 0;
  /// Returns when the RUN steps of an image ran, oldest first, in seconds since 1970.
  virtual std::vector<std::int64_t> run_times(const std::string& image) = 0;
  /// Returns the file `path` of the image, through a container that is never started; nothing if it
  /// does not exist or is larger than `limit` bytes.
  virtual std::optional<std::string> read_file(const std::string& image,
                                               const std::string& path,
                                               std::size_t limit) = 0;
  /// Calls `use` with the files of the image, through one such container.
  virtual void with_files(const std::string& image,
                          const std::string& platform,
                          const std::function<void(ImageFiles& files)>& use) = 0;
  /// Returns the containers that run concurrently; created on first use.
  virtual Containers& containers() = 0;
  /// Runs a container to the end, forwards signals and the terminal's size, and removes it. Returns
  /// the exit status.
  virtual int run(const ContainerSpec& spec, const ContainerStreams& streams) = 0;
};

struct DockerOptions {
  Endpoint endpoint{};
  registry::CredentialSource credentials{};
  Proxies proxies{};  ///< of build steps and containers
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
  http::Client* client{nullptr};  ///< must outlive the engine
};

std::unique_ptr<Docker> make_docker(const DockerOptions& options);

/// Settings of an engine that building does not need.
struct EngineSettings {
  std::string store{};                        ///< `overlay2`, `containerd (overlayfs)`
  std::string root_directory{};               ///< its image store, on the engine's machine
  std::optional<std::string> https_proxy{};   ///< for pulls and pushes
  std::optional<std::uint64_t> free_bytes{};  ///< in the image store; absent if it is on another
                                              ///< machine
};

/// Throws as Docker's methods do.
EngineSettings read_settings(const DockerOptions& options);

}  // namespace autopack::engine
