#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "engine/docker.hpp"
#include "engine/local_socket.hpp"
#include "engine/ssh_tunnel.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <vector>

namespace autopack::engine {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr auto* flag_origin = "`--engine-host`";

http::Tls tls_in(const fs::path& directory, bool verify) {
  const auto if_there = [&](const char* name) {
    return fs::exists(directory / name) ? directory / name : fs::path{};
  };
  return {.ca_file = if_there("ca.pem"),
          .certificate_file = if_there("cert.pem"),
          .key_file = if_there("key.pem"),
          .verify = verify};
}

std::string with_port(std::string url, bool use_tls) {
  const auto parsed = Url::parse(url);
  if (parsed && !parsed->port && parsed->scheme == "tcp") {
    return parsed->origin() + (use_tls ? ":2376" : ":2375");
  }
  return url;
}

/// Throws Error(usage) for an unsupported address.
void check_url(const std::string& url, const std::string& origin) {
  const auto end = url.find("://");
  const auto scheme = end == std::string::npos ? "" : url.substr(0, end);
  if (scheme == "unix" && url.size() > 7) {
    return;
  }
  if (scheme == "ssh" && parse_ssh_address(url)) {
    return;
  }
  const bool known = scheme == "tcp" || scheme == "http" || scheme == "https";
  if (!known || !Url::parse(url)) {
    Error error{ErrorKind::usage,
                fmt::format("`{}` is not an engine's address (from {})", redact_url(url), origin)};
    if (const auto parts = Url::parse(url); parts && !parts->password.empty()) {
      error.cause("ssh takes no password in an address: it asks for one, or uses a key");
    }
    const auto* const setting = origin == flag_origin ? "--engine-host=" : "export DOCKER_HOST=";
    for (const auto* address :
         {"unix:///var/run/docker.sock", "tcp://127.0.0.1:2375", "ssh://user@host"}) {
      error.hint(std::string{setting} + address);
    }
    throw std::move(error);
  }
}

Endpoint from_host(const std::string& host,
                   const std::string& origin,
                   const Environment& environment) {
  Endpoint endpoint{.url = host, .origin = origin};
  check_url(host, endpoint.origin);
  if (auto address = parse_ssh_address(host)) {
    endpoint.tunnel = std::make_shared<SshTunnel>(*std::move(address));
    return endpoint;
  }
  const bool verify = environment.get("DOCKER_TLS_VERIFY").has_value();
  endpoint.use_tls =
      verify || environment.get("DOCKER_TLS").has_value() || host.starts_with("https://");
  if (endpoint.use_tls) {
    const auto directory = environment.get("DOCKER_CERT_PATH");
    endpoint.tls = tls_in(directory ? fs::path{*directory} : environment.docker_directory(),
                          verify || host.starts_with("https://"));
  }
  endpoint.url = with_port(host, endpoint.use_tls);
  return endpoint;
}

json parse_file(const std::string& text, const fs::path& path) {
  json document = parse_json(text);
  if (!document.is_object()) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not a JSON object", path.string()));
  }
  return document;
}

Endpoint from_context(const std::string& name,
                      const std::string& origin,
                      const Environment& environment) {
  const fs::path contexts = environment.docker_directory() / "contexts";
  const std::string id = sha256(name).hex();
  const fs::path file = contexts / "meta" / id / "meta.json";
  const auto text = read_file_if_exists(file);
  if (!text) {
    throw Error(ErrorKind::usage,
                fmt::format("there is no docker context `{}` (from {})", printable(name), origin))
        .hint("docker context ls")
        .hint("export DOCKER_CONTEXT=default");
  }
  const json document = parse_file(*text, file);
  const json::json_pointer place{"/Endpoints/docker"};
  const json endpoint = document.contains(place) ? document.at(place) : json::object();
  Endpoint found{.origin = fmt::format("docker context `{}`", printable(name))};
  const auto host = endpoint.find("Host");
  if (host == endpoint.end() || !host->is_string()) {
    throw Error(ErrorKind::usage, fmt::format("{} names no engine", found.origin))
        .cause(fmt::format("`{}` has no `Endpoints.docker.Host`", file.string()));
  }
  check_url(host->get<std::string>(), found.origin);
  if (auto address = parse_ssh_address(host->get<std::string>())) {
    found.url = host->get<std::string>();
    found.tunnel = std::make_shared<SshTunnel>(*std::move(address));
    return found;
  }
  const fs::path certificates = contexts / "tls" / id / "docker";
  const auto skip = endpoint.find("SkipTLSVerify");
  const bool verify = skip == endpoint.end() || !skip->is_boolean() || !skip->get<bool>();
  found.use_tls = fs::exists(certificates) || host->get<std::string>().starts_with("https://");
  if (found.use_tls) {
    found.tls = tls_in(certificates, verify);
  }
  found.url = with_port(host->get<std::string>(), found.use_tls);
  return found;
}

struct Context {
  std::string name{};
  std::string origin{};  ///< the source of its name
};

/// Returns the current context; nothing if none is named.
std::optional<Context> current_context(const Environment& environment) {
  if (const auto name = environment.get("DOCKER_CONTEXT")) {
    return Context{*name, "DOCKER_CONTEXT"};
  }
  const fs::path file = environment.docker_directory() / "config.json";
  if (const auto text = read_file_if_exists(file); text && !trim(*text).empty()) {
    const json document = parse_file(*text, file);
    const auto name = document.find("currentContext");
    if (name != document.end() && name->is_string() &&
        !name->get_ref<const std::string&>().empty()) {
      return Context{name->get<std::string>(),
                     fmt::format("`currentContext` of `{}`", file.string())};
    }
  }
  return std::nullopt;
}

struct KnownSocket {
  fs::path path{};
  const char* origin{""};
};

fs::path podman_socket(const Environment& environment) {
  const auto runtime = environment.get("XDG_RUNTIME_DIR");
  if (runtime && ::geteuid() != 0) {
    return fs::path{*runtime} / "podman/podman.sock";
  }
  return ::geteuid() == 0
             ? fs::path{"/run/podman/podman.sock"}
             : fs::path{fmt::format("/tmp/podman-run-{}/podman/podman.sock", ::geteuid())};
}

/// Where engines put their sockets, in order of preference.
std::vector<KnownSocket> known_sockets(const Environment& environment,
                                       const fs::path& default_socket) {
  std::vector<KnownSocket> sockets{{default_socket, "the default"}};
  if (const auto runtime = environment.get("XDG_RUNTIME_DIR")) {
    sockets.push_back({fs::path{*runtime} / "docker.sock", "the default of a rootless engine"});
  }
  const auto home = environment.home();
  const auto configuration = environment.get("XDG_CONFIG_HOME");
  for (const KnownSocket& socket : {
           KnownSocket{home / ".docker/desktop/docker.sock", "Docker Desktop"},
           KnownSocket{home / ".docker/run/docker.sock", "Docker Desktop"},
           KnownSocket{home / ".orbstack/run/docker.sock", "OrbStack"},
           KnownSocket{home / ".colima/default/docker.sock", "Colima"},
           KnownSocket{(configuration ? fs::path{*configuration} : home / ".config") /
                           "colima/default/docker.sock",
                       "Colima"},
           KnownSocket{home / ".rd/docker.sock", "Rancher Desktop"},
           KnownSocket{podman_socket(environment), "Podman"},
       }) {
    sockets.push_back(socket);
  }
  return sockets;
}

/// For an engine that nothing names.
Endpoint first_that_listens(const Environment& environment, const fs::path& default_socket) {
  for (const auto& [path, origin] : known_sockets(environment, default_socket)) {
    if (accepts_connection(path)) {
      return {.url = "unix://" + path.string(), .origin = origin};
    }
  }
  if (find_program("podman", environment.get("PATH").value_or(""))) {
    return {.url = "unix://" + podman_socket(environment).string(),
            .origin = "Podman, since no engine is running",
            .starts_podman = true};
  }
  return {.url = "unix://" + default_socket.string()};
}

}  // namespace

Endpoint find_endpoint(const Environment& environment,
                       const std::optional<std::string>& flag,
                       const fs::path& default_socket) {
  const auto host = flag ? flag : environment.get("DOCKER_HOST");
  if (host) {
    auto endpoint = from_host(*host, flag ? flag_origin : "DOCKER_HOST", environment);
    endpoint.starts_podman = endpoint.url == "unix://" + podman_socket(environment).string();
    return endpoint;
  }
  if (const auto context = current_context(environment); context && context->name != "default") {
    return from_context(context->name, context->origin, environment);
  }
  return first_that_listens(environment, default_socket);
}

}  // namespace autopack::engine
