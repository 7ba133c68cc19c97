#include "engine/api.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "engine/container_owner.hpp"
#include "engine/json_lines.hpp"
#include "engine/local_socket.hpp"
#include "engine/ssh_tunnel.hpp"
#include "registry/login_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <random>

namespace autopack::engine {

namespace {

/// The newest API version that this code supports.
constexpr int newest_minor = 47;
/// The first version that reports an image's origin.
constexpr int origin_minor = 53;
/// The first version with BuildKit in `POST /build`.
constexpr int buildkit_minor = 39;
/// The versions of Docker 23 to 27, which have containerd's store, but whose BuildKit cannot read
/// an uploaded context with it.
constexpr int first_store_minor = 42;
constexpr int upload_minor = 48;
constexpr int http_conflict = 409;

/// Returns N of `1.N`; nothing for other text.
std::optional<int> minor_version(std::string_view text) {
  int minor = 0;
  if (!text.starts_with("1.")) {
    return std::nullopt;
  }
  const auto result = std::from_chars(text.data() + 2, text.data() + text.size(), minor);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size() ? std::optional{minor}
                                                                             : std::nullopt;
}

std::string socket_path(const Endpoint& endpoint) {
  return endpoint.url.substr(std::string_view{"unix://"}.size());
}

void require_ok(const http::Request& request, const http::Response& response) {
  if (!response.ok()) {
    throw Error(ErrorKind::remote, "could not " + request.what).cause(refusal_of(response));
  }
}

}  // namespace

std::string refusal_of(const http::Response& response) {
  const auto body = parse_json(response.body);
  std::string text = complaint_of(body).value_or("");
  if (text.empty()) {
    text = trim(std::string_view{response.body}.substr(0, 400));
  }
  return text.empty() ? fmt::format("status {}", response.status)
                      : printable(redact_credentials(text));
}

Api::Api(DockerOptions options) : options_{std::move(options)}, cleanup_{http::make_client({})} {}

const EngineInfo& Api::info() {
  if (!info_) {
    info_ = negotiate();
  }
  return *info_;
}

http::Request Api::base_request(std::string what,
                                std::string method,
                                const std::string& path) const {
  const Endpoint& endpoint = options_.endpoint;
  http::Request request{.what = std::move(what), .method = std::move(method)};
  if (is_local()) {
    request.unix_socket = socket_path(endpoint);
    request.url = "http://localhost" + path;
  } else if (endpoint.tunnel) {
    request.unix_socket = endpoint.tunnel->socket();
    request.url = "http://localhost" + path;
  } else {
    const auto rest = endpoint.url.substr(endpoint.url.find("://"));
    request.url = (endpoint.use_tls ? "https" : "http") +
                  std::string{rest.ends_with('/') ? rest.substr(0, rest.size() - 1) : rest} + path;
    request.tls = endpoint.tls;
  }
  request.timeout = std::chrono::milliseconds{0};
  return request;
}

http::Request Api::request(std::string what, std::string method, const std::string& path) {
  return base_request(std::move(what), std::move(method), "/v" + info().api_version + path);
}

http::Request Api::short_request(std::string what, std::string method, const std::string& path) {
  auto short_one = request(std::move(what), std::move(method), path);
  short_one.timeout = std::chrono::minutes{2};
  return short_one;
}

http::Request Api::origin_request(const std::string& reference) const {
  auto request = base_request("ask where an image came from", "GET",
                              fmt::format("/v1.{}/images/{}/json", origin_minor, reference));
  request.timeout = std::chrono::minutes{2};
  return request;
}

http::Request Api::podman_request(std::string what,
                                  std::string method,
                                  const std::string& path) const {
  return base_request(std::move(what), std::move(method), "/v4.0.0/libpod" + path);
}

http::Response Api::send(const http::Request& request) {
  check_socket();
  try {
    return options_.client->send(request);
  } catch (const Error&) {
    rethrow_explained();
  }
}

http::Response Api::send_ok(const http::Request& request) {
  http::Response response = send(request);
  require_ok(request, response);
  return response;
}

void Api::send_cleanup(const http::Request& request) noexcept {
  try {
    cleanup_->send(request);
  } catch (const std::exception& error) {
    // Report the original failure, not this one.
    if (options_.reporter != nullptr) {
      options_.reporter->detail(error.what());
    }
  }
}

std::unique_ptr<http::Stream> Api::upgrade(const http::Request& request) {
  check_socket();
  try {
    return options_.client->upgrade(request);
  } catch (const Error&) {
    rethrow_explained();
  }
}

std::optional<registry::Credential> Api::login(const std::string& repository) const {
  return options_.credentials ? options_.credentials(repository) : std::nullopt;
}

http::Header Api::registry_auth(const std::string& repository) const {
  return {"X-Registry-Auth",
          registry::to_registry_auth(login(repository), registry::host_of(repository)).reveal()};
}

std::string Api::create_container(
    const std::function<http::Request(const std::string& name)>& creation) {
  std::random_device random;
  std::string name = fmt::format("autopack-{:08x}{:08x}", random(), random());
  const auto create = creation(name);
  remove_left_containers(*this);
  try {
    const auto response = send(create);
    // libcurl repeats the request if a kept connection turns out to be closed: then the first one
    // created the container, and the name is taken.
    if (response.status == http_conflict && holds_container(name)) {
      return name;
    }
    require_ok(create, response);
    if (text_at(parse_json(response.body), "Id").empty()) {
      throw Error(ErrorKind::remote, "the engine created a container, but did not report its id");
    }
    return name;
  } catch (...) {
    // Only the response may have been lost.
    auto removal = removal_of(name);
    removal.timeout = std::chrono::seconds{30};
    send_cleanup(removal);
    throw;
  }
}

bool Api::holds_container(const std::string& name) {
  return send(short_request("look for a container", "GET", "/containers/" + name + "/json")).ok();
}

ContainerSpec Api::with_proxies(ContainerSpec spec) const {
  for (const auto& [name, value] : options_.proxies) {
    spec.environment.try_emplace(name, value.reveal());
  }
  return spec;
}

http::Request Api::removal_of(const std::string& container) {
  return short_request("remove a container", "DELETE", "/containers/" + container + "?force=1&v=1");
}

EngineInfo Api::negotiate() {
  auto ping = base_request("reach the engine", "GET", "/_ping");
  // ssh may ask for a password meanwhile, and has a time limit of its own.
  ping.timeout = options_.endpoint.tunnel ? std::chrono::minutes{5} : std::chrono::seconds{30};
  const http::Response pong = send(ping);
  if (!pong.ok()) {
    Error error = unreachable().cause(refusal_of(pong));
    if (pong.body.find("HTTPS server") != std::string::npos) {
      error.hint(
          "export DOCKER_TLS_VERIFY=1 DOCKER_CERT_PATH=DIRECTORY  # ca.pem, cert.pem, key.pem");
    }
    throw error;
  }
  EngineInfo info;
  info.podman = pong.header("Libpod-Api-Version").has_value();
  const auto offered = pong.header("Api-Version");
  const auto minor = offered ? minor_version(*offered) : std::nullopt;
  if (!minor) {
    throw unreachable().cause("the server at that address is not a Docker Engine");
  }
  info.api_version = fmt::format("1.{}", std::min(*minor, newest_minor));
  // An administrator can set `1`. Engines before 23 send no version unless they are configured to.
  const std::string builder = pong.header("Builder-Version").value_or("");
  const std::string system = pong.header("Ostype").value_or("linux");
  info.reports_origin = !info.podman && *minor >= origin_minor;
  info.buildkit = !info.podman && builder != "1" && system == "linux" && *minor >= buildkit_minor;
  if (info.buildkit && *minor >= first_store_minor && *minor < upload_minor) {
    info.store_lacks_upload = has_containerd_store(info.api_version);
    info.buildkit = !info.store_lacks_upload;
  }

  auto ask =
      base_request("ask the engine for its version", "GET", "/v" + info.api_version + "/version");
  ask.timeout = std::chrono::seconds{30};
  const auto version = parse_json(send_ok(ask).body);
  info.version = text_at(version, "Version");
  info.platform = text_at(version, "Os") + "/" + text_at(version, "Arch");
  return info;
}

Error Api::unreachable() const {
  return {ErrorKind::environment, fmt::format("cannot reach the Docker Engine at `{}` (from {})",
                                              options_.endpoint.text(), options_.endpoint.origin)};
}

bool Api::has_containerd_store(const std::string& api_version) {
  auto ask = base_request("ask the engine for its store", "GET", "/v" + api_version + "/info");
  ask.timeout = std::chrono::seconds{30};
  return store_of(parse_json(send_ok(ask).body)).starts_with("containerd");
}

void Api::check_socket() {
  if (!is_local()) {
    return;
  }
  const std::string path = socket_path(options_.endpoint);
  if (options_.endpoint.starts_podman && !accepts_connection(path)) {
    start_podman(path);
    if (options_.reporter != nullptr) {
      options_.reporter->done("Started", "Podman, because no engine is running");
    }
  }

  struct stat status = {};

  if (::stat(path.c_str(), &status) != 0) {
    Error error = unreachable().cause(fmt::format("`{}`: {}", path, std::strerror(errno)));
    if (options_.endpoint.origin == "the default") {
      error.hint("sudo systemctl start docker").hint("sudo apt-get install docker.io");
    }
    throw error.hint("export DOCKER_HOST=unix:///path/of/the/engine.sock");
  }
  if (!S_ISSOCK(status.st_mode)) {
    throw unreachable()
        .cause(fmt::format("`{}` is not a socket", path))
        .hint("export DOCKER_HOST=unix:///path/of/the/engine.sock");
  }
  if (::access(path.c_str(), R_OK | W_OK) != 0) {
    throw unreachable()
        .cause(fmt::format("`{}`: {}", path, std::strerror(errno)))
        .hint("sudo usermod -aG docker \"$USER\" && newgrp docker");
  }
}

Error Api::ssh_error(const std::string& failure) const {
  auto error = unreachable().cause(failure);
  const auto command = options_.endpoint.tunnel->command();
  if (failure.find("not found") != std::string::npos) {
    return error.hint(
        fmt::format("install docker's command line on that machine: {} sudo apt-get "
                    "install docker.io",
                    command));
  }
  return error.hint(fmt::format("{} docker version   # must work without autopack", command));
}

/// Call it only in a handler of the client's exceptions.
void Api::rethrow_explained() const {
  using Reason = http::TransportError::Reason;
  if (options_.endpoint.tunnel) {
    if (const auto failure = options_.endpoint.tunnel->failure()) {
      throw ssh_error(*failure);
    }
  }
  const auto with_causes = [this](const Error& failure) {
    Error error = unreachable();
    for (const auto& cause : failure.causes()) {
      error.cause(cause);
    }
    return error;
  };
  try {
    throw;
  } catch (const http::TransportError& failure) {
    switch (failure.reason()) {
      case Reason::reset:
      case Reason::timeout:
      case Reason::protocol: throw;
      case Reason::tls:
        throw with_causes(failure).hint("check the certificates in DOCKER_CERT_PATH");
      case Reason::connect:
      case Reason::resolve:
        throw with_causes(failure).hint("check DOCKER_HOST, and that the engine listens there");
      case Reason::socket: throw with_causes(failure).hint("sudo systemctl start docker");
    }
    throw;
  }
}

}  // namespace autopack::engine
