#pragma once

#include "engine/docker.hpp"
#include "http/client.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace autopack::engine {

/// The HTTP client of one engine: its address, the negotiated API version, and explanations of its
/// failures.
class Api {
public:
  explicit Api(DockerOptions options);

  /// Asks the engine once, then returns the cached result.
  const EngineInfo& info();

  /// Returns a request for `path` below the API's version prefix; `what` as in http::Request.
  http::Request request(std::string what, std::string method, const std::string& path);
  /// The same for calls that the engine answers immediately; fails after two minutes without a
  /// response.
  http::Request short_request(std::string what, std::string method, const std::string& path);
  /// Returns the request that inspects the image `reference`, including its origin.
  http::Request origin_request(const std::string& reference) const;
  /// Returns a request below Podman's own API.
  http::Request podman_request(std::string what, std::string method, const std::string& path) const;

  /// Returns the response, whatever its status. Throws Error(environment) if the engine is not
  /// running.
  http::Response send(const http::Request& request);
  /// As send(), but throws Error(remote) unless the status means success.
  http::Response send_ok(const http::Request& request);
  /// As send(), on a separate connection that a cancellation does not interrupt; for cleanup. Never
  /// throws.
  void send_cleanup(const http::Request& request) noexcept;
  std::unique_ptr<http::Stream> upgrade(const http::Request& request);

  /// Returns the login for `repository` (`HOST/PATH`); nothing = anonymous.
  std::optional<registry::Credential> login(const std::string& repository) const;
  /// Creates a container by the request that `creation` returns for a new name, and returns the
  /// name. If it fails, no container is left, even if only the response was lost. Also removes
  /// containers left by ended runs.
  std::string create_container(
      const std::function<http::Request(const std::string& name)>& creation);
  http::Request removal_of(const std::string& container);
  /// Returns X-Registry-Auth with that login.
  http::Header registry_auth(const std::string& repository) const;

  /// Returns true if the engine can access this machine's files.
  bool is_local() const { return options_.endpoint.is_local(); }

  const Proxies& proxies() const { return options_.proxies; }

  /// `spec` with the proxies that it does not set itself.
  ContainerSpec with_proxies(ContainerSpec spec) const;

  Reporter* reporter() const { return options_.reporter; }

private:
  http::Request base_request(std::string what, std::string method, const std::string& path) const;
  bool holds_container(const std::string& name);
  EngineInfo negotiate();
  bool has_containerd_store(const std::string& api_version);
  void check_socket();
  Error unreachable() const;
  Error ssh_error(const std::string& failure) const;
  [[noreturn]] void rethrow_explained() const;

  DockerOptions options_;
  std::unique_ptr<http::Client> cleanup_;
  std::optional<EngineInfo> info_;
};

/// Returns `overlay2` or `containerd (overlayfs)` from the answer of `GET /info`; empty if unknown.
std::string store_of(const nlohmann::json& info);

/// Returns the engine's message in a response that is not a success.
std::string refusal_of(const http::Response& response);

}  // namespace autopack::engine
