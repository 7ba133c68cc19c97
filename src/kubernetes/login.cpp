#include "kubernetes/login.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/timestamp.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <utility>

namespace autopack::kubernetes {

namespace {

using nlohmann::json;

constexpr std::string_view group = "client.authentication.k8s.io/";
constexpr std::string_view google_plugin = "gke-gcloud-auth-plugin";
constexpr std::chrono::minutes longest_login{2};

std::string name_of(const ExecPlugin& plugin) {
  return std::filesystem::path{plugin.command}.filename().string();
}

Error failed(const ExecPlugin& plugin, const std::string& why) {
  return {ErrorKind::environment, fmt::format("the login program `{}` of the kubeconfig {}",
                                              printable(name_of(plugin)), why)};
}

/// Throws if autopack cannot use the plugin.
void check_plugin(const ExecPlugin& plugin) {
  const bool is_stable = plugin.api_version == std::string{group} + "v1";
  if (!is_stable && plugin.api_version != std::string{group} + "v1beta1") {
    throw failed(plugin, fmt::format("speaks `{}`, which autopack does not support",
                                     printable(plugin.api_version)))
        .hint(
            "update the entry in the kubeconfig, so that its `apiVersion` is "
            "client.authentication.k8s.io/v1");
  }
  if (is_stable && plugin.interactive_mode.empty()) {
    throw failed(plugin,
                 "has no `interactiveMode`, which `client.authentication.k8s.io/v1` "
                 "requires");
  }
  if (plugin.interactive_mode == "Always") {
    throw failed(plugin, "needs a terminal, which autopack does not provide")
        .hint("use another user of the kubeconfig, or a token");
  }
}

}  // namespace

std::string exec_info(const Access& access) {
  json spec{{"interactive", false}};
  if (access.exec->provides_cluster_info) {
    json cluster{{"server", access.server}};
    if (!access.ca.empty()) {
      cluster["certificate-authority-data"] = base64_encode(access.ca);
    }
    if (!access.verifies) {
      cluster["insecure-skip-tls-verify"] = true;
    }
    if (!access.server_name.empty()) {
      cluster["tls-server-name"] = access.server_name;
    }
    if (!access.proxy.empty()) {
      cluster["proxy-url"] = access.proxy.reveal();
    }
    if (access.exec->cluster_config) {
      cluster["config"] = *access.exec->cluster_config;
    }
    spec["cluster"] = std::move(cluster);
  }
  return print_json({{"kind", "ExecCredential"},
                     {"apiVersion", access.exec->api_version},
                     {"spec", std::move(spec)}});
}

ExecAnswer read_exec_answer(const std::string& text, const ExecPlugin& plugin) {
  const auto answer = parse_json(text);
  if (!answer.is_object() || text_at(answer, "kind") != "ExecCredential") {
    throw failed(plugin, "printed no `ExecCredential`");
  }
  if (text_at(answer, "apiVersion") != plugin.api_version) {
    throw failed(plugin, fmt::format("printed a login for another `apiVersion` than `{}`",
                                     printable(plugin.api_version)));
  }
  const auto status = answer.find("status");
  if (status == answer.end() || !status->is_object()) {
    throw failed(plugin, "printed no login");
  }
  ExecAnswer read{.token = Secret{text_at(*status, "token")},
                  .certificate = text_at(*status, "clientCertificateData"),
                  .key = Secret{text_at(*status, "clientKeyData")}};
  if (read.certificate.empty() != read.key.empty()) {
    throw failed(plugin, "printed a client certificate or its key, but not both");
  }
  if (read.token.empty() && read.certificate.empty()) {
    throw failed(plugin, "printed neither a token nor a client certificate");
  }
  if (read.token.reveal().find_first_of("\r\n") != std::string::npos) {
    throw failed(plugin, "printed a token with a line break");
  }
  if (const auto time = google::Timestamp::parse(text_at(*status, "expirationTimestamp"))) {
    read.expires_at = time->seconds;
  }
  return read;
}

bool Login::is_google() const {
  const auto& access = options_.access;
  return access.exec && name_of(*access.exec) == google_plugin && options_.google &&
         access.server.starts_with("https://");
}

ExecAnswer Login::run_plugin() const {
  const auto& plugin = *options_.access.exec;
  check_plugin(plugin);
  std::vector<std::string> argv{plugin.command};
  argv.insert(argv.end(), plugin.args.begin(), plugin.args.end());
  ProcessOptions process{
      .environment = plugin.env, .timeout = longest_login, .cancellation = options_.cancellation};
  process.environment["KUBERNETES_EXEC_INFO"] = exec_info(options_.access);
  const auto result = run_process(argv, "", process);
  if (!result) {
    auto error = failed(plugin, "is not installed");
    const auto hint = trim(plugin.install_hint);
    throw hint.empty() ? error : error.hint(printable(hint.substr(0, hint.find('\n'))));
  }
  if (result->status != 0) {
    // Plugins explain themselves there; what they print for us goes to the output.
    const auto errors = trim(result->errors);
    const auto last = errors.substr(errors.rfind('\n') + 1);
    auto error = failed(plugin, fmt::format("failed with status {}", result->status));
    throw last.empty() ? error : error.cause(redact_credentials(printable(last)));
  }
  return read_exec_answer(result->output, plugin);
}

ExecAnswer Login::exec_answer() {
  const std::scoped_lock lock{mutex_};
  const auto now = options_.now ? options_.now() : std::int64_t{std::time(nullptr)};
  const bool is_fresh = answer_ && (!answer_->expires_at || now < *answer_->expires_at);
  if (!is_fresh) {
    answer_ = run_plugin();
  }
  return *answer_;
}

Secret Login::bearer() const {
  const auto& access = options_.access;
  if (!access.token_file.empty()) {
    const std::string text{trim(read_file(access.token_file, FileSort::any))};
    if (text.empty() || text.find_first_of("\r\n") != std::string::npos) {
      throw Error(ErrorKind::environment,
                  fmt::format("`{}` contains no token", access.token_file.string()));
    }
    return Secret{text};
  }
  return access.token;
}

void Login::apply(http::Request& request) {
  const auto& access = options_.access;
  request.tls = {.ca = access.ca,
                 .certificate = access.client_certificate,
                 .key = access.client_key,
                 .server_name = access.server_name,
                 .verify = access.verifies};
  request.proxy = access.proxy;
  request.proxy_for_loopback = true;
  auto token = bearer();
  if (token.empty() && is_google()) {
    token = options_.google().token().token;
  } else if (token.empty() && access.exec) {
    const auto answer = exec_answer();
    token = answer.token;
    if (!answer.certificate.empty()) {
      request.tls.certificate = answer.certificate;
      request.tls.key = answer.key;
    }
  }
  if (!token.empty()) {
    request.headers.push_back({"Authorization", "Bearer " + token.reveal()});
  } else if (!access.basic_user.empty()) {
    request.headers.push_back(
        {"Authorization",
         "Basic " + base64_encode(access.basic_user + ":" + access.basic_password.reveal())});
  }
}

bool Login::renew() {
  if (!options_.access.token.empty() && options_.access.token_file.empty()) {
    return false;
  }
  if (is_google()) {
    options_.google().expire();
    return true;
  }
  const std::scoped_lock lock{mutex_};
  answer_.reset();
  return options_.access.exec.has_value() || !options_.access.token_file.empty();
}

std::string Login::describe() const {
  const auto& access = options_.access;
  if (access.user.empty()) {
    return access.origin;
  }
  return fmt::format("user `{}` of `{}`", printable(access.user), access.origin);
}

}  // namespace autopack::kubernetes
