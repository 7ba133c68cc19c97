#pragma once

#include "base/digest.hpp"
#include "base/environment.hpp"
#include "base/report.hpp"
#include "base/secret.hpp"
#include "http/client.hpp"
#include "image/facts.hpp"
#include "image/reference.hpp"
#include "image/source.hpp"
#include "image/tar.hpp"
#include "plan/plan.hpp"
#include "registry/credentials.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// Where a Docker Engine listens, and why autopack thinks so.
struct Endpoint {
  std::string url{};  ///< `unix:///var/run/docker.sock`, `tcp://host:2376`
  http::Tls tls{};    ///< for tcp with TLS
  bool use_tls{false};
  std::string origin{"the default"};  ///< "DOCKER_HOST", "docker context `name`"
};

/// DOCKER_HOST (+ DOCKER_TLS_VERIFY, DOCKER_CERT_PATH), DOCKER_CONTEXT, `currentContext` of
/// config.json, else the default socket. Throws Error(usage) for a value that cannot be used (ssh).
Endpoint find_endpoint(const Environment& environment,
                       const std::filesystem::path& default_socket = "/var/run/docker.sock");

struct EngineInfo {
  std::string version{};
  std::string api_version{};  ///< negotiated
  std::string platform{};     ///< of the daemon: `linux/amd64`
  bool buildkit{false};
  bool podman{false};
  bool tells_origin{false};  ///< Docker::repositories_with has an answer
};

/// What the daemon holds of an image.
struct LocalImage {
  std::string id{};  ///< `sha256:...` of the configuration; with `id_is_manifest`, of the manifest
  std::vector<std::string> repository_digests{};
  /// The engine keeps its images in containerd's store. `repository_digests` then has every name
  /// of the image, whether a registry knows it or not.
  bool id_is_manifest{false};
  std::string platform{};
  std::string user{};
  std::vector<std::string> entrypoint{};
  std::vector<std::string> environment{};
  std::map<std::string, std::string> labels{};
  std::vector<std::string> layers{};  ///< diffIDs, from the base upwards
};

/// A file of the context that is in no tree: pip.conf, the Dockerfile. Its text never reaches a
/// log.
struct ContextFile {
  std::string path{};
  Secret text{};
};

/// The same from this machine's disk.
struct ContextCopy {
  std::string path{};
  std::filesystem::path file{};
};

struct BuildRequest {
  const plan::ReadablePlan* plan{nullptr};  ///< files of the context; null: none
  /// Context directory of the working directory's files: plan::Dialect::root. Empty: the context's
  /// root.
  std::string root{};
  std::string dockerfile{};  ///< text that is built
  std::vector<ContextFile> files{};
  std::vector<ContextCopy> copies{};
  std::vector<std::string> tags{};
  std::map<std::string, std::string> labels{};
  std::optional<std::string> target{};  ///< stage; none: the last
  /// Of the build steps: `host`; none: the daemon's default.
  std::optional<std::string> network_mode{};
  std::string platform{};
  bool no_cache{false};
  bool buildkit{true};
  /// Files of the code, by their paths below /usr/app, that stay out of the context; sorted.
  std::vector<std::string> left_out{};
  std::int64_t file_time{image::default_file_time};  ///< of every file of the context
};

struct BuildResult {
  std::string image_id{};
  std::uint64_t context_bytes{0};
  int steps{0};
  int cached_steps{0};
};

struct PushResult {
  Digest digest;
  std::uint64_t bytes_uploaded{0};  ///< before compression: what the engine tells

  struct PushedLayer {
    std::string id{};       ///< as the engine shortens it
    std::uint64_t size{0};  ///< uncompressed bytes; 0 when the registry had it
    bool uploaded{false};
  };

  std::vector<PushedLayer> layers{};  ///< none from Podman, which does not tell
};

/// A line of an engine's list of images.
struct ListedImage {
  std::string id{};                  ///< `sha256:...` of the configuration
  std::vector<std::string> names{};  ///< `repository:tag`; none when it lost them all
  std::map<std::string, std::string> labels{};
  std::uint64_t size{0};   ///< of its layers, unpacked, also of those that other images share
  std::int64_t tagged{0};  ///< when it got its last name here, in seconds since 1970; 0: not known
};

struct ContainerSpec {
  std::string image{};
  std::vector<std::string> arguments{};
  std::vector<std::string> command{};  ///< replaces the entry point when not empty
  std::map<std::string, std::string> environment{};

  struct Mount {
    std::string host_path{};
    std::string container_path{};
    bool read_only{true};
  };

  std::vector<Mount> mounts{};

  /// A port of the container that is reached at one of this machine.
  struct Port {
    std::optional<std::string> host_address{};  ///< none: all addresses
    std::optional<std::string> host_port{};     ///< none: the engine picks one
    std::string container_port{};               ///< with its protocol: `6006/tcp`
  };

  std::vector<Port> ports{};
  bool gpus{false};           ///< all, or `gpu_count` of them, by device request
  std::int64_t gpu_count{0};  ///< so many; 0 = all
  /// These only, instead of all: numbers and ids of the driver (`0`, `GPU-8f...`), or CDI's names
  /// (`nvidia.com/gpu=0`), never both.
  std::vector<std::string> gpu_ids{};
  bool host_ipc{true};
  std::optional<std::string> network_mode{};  ///< none: the engine's default
  std::optional<std::string> host_name{};     ///< its name on a network of its own, too
  std::uint64_t shared_memory{0};             ///< bytes of /dev/shm; 0 = the engine's default
  std::uint64_t memory{0};                    ///< bytes at most; 0 = no limit
  double processors{0};                       ///< at most; 0 = no limit
  std::map<std::string, std::string> labels{};
  bool tty{false};
  bool interactive{false};  ///< standard input is passed on
};

/// Where a container's streams go.
struct ContainerStreams {
  int input{-1};  ///< descriptor; -1 = closed
  std::function<void(std::string_view)> output{};
  std::function<void(std::string_view)> errors{};
  int watched{-1};  ///< descriptor; -1 = none
  /// Asked whenever `watched` is readable; true stops the container: it is asked to end, and ended
  /// a second later.
  std::function<bool()> stops{};
  std::function<void(int signal)> forwarded{};  ///< told of each signal that is passed on
};

class Containers;

/// The files of an image that an engine has.
class ImageFiles {
public:
  virtual ~ImageFiles() = default;
  /// Those of `paths` that exist, each with the path behind its links when it is a symbolic link.
  virtual std::map<std::string, std::optional<std::string>> probe(
      const std::vector<std::string>& paths) = 0;
  /// The file `path`, or the directory with all below it, as a tar whose names begin with the last
  /// part of `path`; a link at its end is not followed. Throws Error(remote) when it is not there.
  /// Several threads may call it at once.
  virtual image::Reader archive(const std::string& path) = 0;
};

/// One Docker Engine (or Podman's compatible socket). Methods throw Error(environment) when the
/// daemon is not there, with where its address came from and the remedy.
class Docker {
public:
  virtual ~Docker() = default;
  /// Negotiated once, then remembered.
  virtual const EngineInfo& info() = 0;
  /// None when the daemon does not have it.
  virtual std::optional<LocalImage> inspect(const std::string& reference) = 0;
  /// The repositories (`docker.io/library/python`) that the image `reference` was pulled from or
  /// pushed to. Returns nothing if the engine does not tell: one without EngineInfo::tells_origin.
  virtual std::optional<std::vector<std::string>> repositories_with(
      const std::string& reference) = 0;
  /// The digest the registry has for `reference` now, through the daemon. Error(remote) when the
  /// registry does not answer, refuses, or has no such image or platform.
  virtual Digest resolve(const image::Reference& reference) = 0;
  virtual void pull(const image::Reference& reference, const std::string& platform) = 0;
  virtual BuildResult build(const BuildRequest& request) = 0;
  virtual void tag(const std::string& image, const image::Reference& name) = 0;
  virtual PushResult push(const image::Reference& name) = 0;
  /// Removes a name (or an image); no error when it is gone already.
  virtual void remove_image(const std::string& reference) = 0;
  /// The images that have `label`, whatever its value.
  virtual std::vector<ListedImage> list_images(const std::string& label) = 0;
  /// Names of the containers that autopack's ended runs left.
  virtual std::vector<std::string> left_containers() = 0;
  /// Removes one of them; no error when it is gone already.
  virtual void remove_container(const std::string& name) = 0;
  /// Hands over the image `name` as the tar of `docker save`.
  virtual void save(const std::string& name, const std::function<void(std::string_view)>& sink) = 0;
  /// Takes in the images of a tar as `docker load` does: `read` fills a buffer, 0 at the end.
  virtual void load(const std::function<std::size_t(char* buffer, std::size_t size)>& read) = 0;
  /// The image `name` as one to put layers on, with its configuration as the engine tells it. Its
  /// layers stay in the engine: to read one throws. None when the engine does not have it, or takes
  /// no image in whose tar they are missing (Podman, containerd's store).
  virtual std::optional<image::Source> held(const std::string& name) = 0;
  /// When the RUN steps of an image ran, oldest first, in seconds since 1970.
  virtual std::vector<std::int64_t> run_times(const std::string& image) = 0;
  /// The file `path` of the image, by making a container that is never started; none when it is not
  /// there or larger than `limit` bytes.
  virtual std::optional<std::string> read_file(const std::string& image,
                                               const std::string& path,
                                               std::size_t limit) = 0;
  /// Calls `use` with the files of the image, by way of one such container.
  virtual void with_files(const std::string& image,
                          const std::string& platform,
                          const std::function<void(ImageFiles& files)>& use) = 0;
  /// Containers that run side by side. Made when first asked for; lives as long as the engine.
  virtual Containers& containers() = 0;
  /// Runs to the end, forwards signals and the terminal's size, removes the container. The exit
  /// status.
  virtual int run(const ContainerSpec& spec, const ContainerStreams& streams) = 0;
};

struct DockerOptions {
  Endpoint endpoint{};
  registry::CredentialSource credentials{};
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
  http::Client* client{nullptr};  ///< must outlive the engine
};

std::unique_ptr<Docker> make_docker(const DockerOptions& options);

}  // namespace autopack::engine
