#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "engine/docker.hpp"

#include <fmt/format.h>

namespace autopack::engine {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;

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
  if (scheme == "ssh") {
    throw Error(ErrorKind::usage, fmt::format("cannot reach an engine through `{}` (from {})",
                                              redact_url(url), origin))
        .cause("autopack does not speak ssh")
        .hint(fmt::format("ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock {} &",
                          shell_quote(url.substr(6))))
        .hint("export DOCKER_HOST=unix:///tmp/engine.sock");
  }
  const bool known = scheme == "tcp" || scheme == "http" || scheme == "https";
  if (!known || !Url::parse(url)) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` is not an engine's address (from {})", redact_url(url), origin))
        .hint("export DOCKER_HOST=unix:///var/run/docker.sock")
        .hint("export DOCKER_HOST=tcp://127.0.0.1:2375");
  }
}

Endpoint from_host_variable(const std::string& host, const Environment& environment) {
  Endpoint endpoint{.url = host, .origin = "DOCKER_HOST"};
  check_url(host, endpoint.origin);
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

}  // namespace

Endpoint find_endpoint(const Environment& environment, const fs::path& default_socket) {
  if (const auto host = environment.get("DOCKER_HOST")) {
    return from_host_variable(*host, environment);
  }
  if (const auto context = current_context(environment); context && context->name != "default") {
    return from_context(context->name, context->origin, environment);
  }
  std::error_code ignored;
  if (const auto runtime = environment.get("XDG_RUNTIME_DIR");
      runtime && !fs::exists(default_socket, ignored)) {
    const fs::path rootless = fs::path{*runtime} / "docker.sock";
    if (fs::exists(rootless, ignored)) {
      return {.url = "unix://" + rootless.string(), .origin = "the default of a rootless engine"};
    }
  }
  return {.url = "unix://" + default_socket.string()};
}

}  // namespace autopack::engine
