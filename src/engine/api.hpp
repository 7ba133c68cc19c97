#pragma once

#include "engine/docker.hpp"
#include "http/client.hpp"

#include <string>
#include <string_view>

namespace autopack::engine {

/// The HTTP side of one engine: its address, the API version agreed on, and what its failures mean.
class Api {
public:
  explicit Api(DockerOptions options);

  /// Asks once, then remembers.
  const EngineInfo& info();

  /// A request for `path` below the API's version prefix; `what` as in http::Request.
  http::Request request(std::string what, std::string method, const std::string& path);
  /// The same for what the engine answers at once: it fails when there is no answer in two minutes.
  http::Request short_request(std::string what, std::string method, const std::string& path);
  /// A request for what the engine knows of the image `reference`, with where it came from.
  http::Request origin_request(const std::string& reference) const;
  /// A request below Podman's own API.
  http::Request podman_request(std::string what, std::string method, const std::string& path) const;

  /// The answer, whatever its status. Throws Error(environment) when the engine is not there.
  http::Response send(const http::Request& request);
  /// As send; throws Error(remote) for a status that is no success.
  http::Response send_ok(const http::Request& request);
  /// As send, on a connection of its own that a cancellation does not end; for taking back what was
  /// made. Never throws.
  void send_cleanup(const http::Request& request) noexcept;
  std::unique_ptr<http::Stream> upgrade(const http::Request& request);

  /// The login for `repository` (`HOST/PATH`); none = anonymous.
  std::optional<registry::Credential> login(const std::string& repository) const;
  /// Makes a container of the `body` given, and gives its name; `query` may be empty. When it fails
  /// no container is left, even if only the answer was lost. Those that ended runs left are
  /// removed.
  std::string create_container(std::string what, const std::string& body, const std::string& query);
  http::Request removal_of(const std::string& container);
  /// X-Registry-Auth with that login.
  http::Header registry_auth(const std::string& repository) const;

  /// True when the engine sees this machine's files.
  bool is_local() const { return options_.endpoint.url.starts_with("unix://"); }

  Reporter* reporter() const { return options_.reporter; }

private:
  http::Request base_request(std::string what, std::string method, const std::string& path) const;
  bool holds_container(const std::string& name);
  EngineInfo negotiate();
  void check_socket() const;
  Error unreachable() const;
  [[noreturn]] void rethrow_explained() const;

  DockerOptions options_;
  std::unique_ptr<http::Client> cleanup_;
  std::optional<EngineInfo> info_;
};

/// The engine's words in an answer that is no success.
std::string refusal_of(const http::Response& response);

}  // namespace autopack::engine
