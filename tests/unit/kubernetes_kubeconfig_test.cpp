#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "kubernetes/kubeconfig.hpp"
#include "kubernetes/login.hpp"
#include "support/fake_google.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace autopack::kubernetes_kubeconfig_test {

using kubernetes::Access;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

class Machine {
public:
  void put(const std::string& name, const std::string& text) const {
    write_file(directory_.path() / name, text);
  }

  void program(const std::string& name, const std::string& script) const {
    put(name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(directory_.path() / name, fs::perms::owner_all);
  }

  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }

  Access find(std::optional<std::string> context = {}, bool in_pod = false) const {
    std::map<std::string, std::string, std::less<>> variables{{"HOME", path("home")},
                                                              {"KUBECONFIG", files}};
    if (in_pod) {
      variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
    }
    const Environment environment{variables};
    return kubernetes::find_access(
        {.environment = &environment, .context = std::move(context), .pod_directory = path("pod")});
  }

  std::string failure(std::optional<std::string> context = {}) const {
    try {
      find(std::move(context));
    } catch (const Error& error) {
      return error.message() + " " + join(error.causes(), " ") + " " + join(error.hints(), " ");
    }
    return {};
  }

  std::string files{};

private:
  TemporaryDirectory directory_{};
};

constexpr auto* simple = R"(
current-context: lab
contexts: [{name: lab, context: {cluster: c, user: u, namespace: ml}}]
clusters: [{name: c, cluster: {server: "https://api.example:6443/"}}]
users: [{name: u, user: {token: s3cr3t-token}}]
)";

std::string with_user(const std::string& user) {
  return "current-context: lab\n"
         "contexts: [{name: lab, context: {cluster: c, user: u}}]\n"
         "clusters: [{name: c, cluster: {server: \"https://api.example\"}}]\n"
         "users: [{name: u, user: " +
         user + "}]\n";
}

}  // namespace

TEST_CASE("a context names server, namespace and login") {
  Machine machine;
  machine.put("a", simple);
  machine.files = machine.path("a");
  const auto access = machine.find();
  CHECK(access.context == "lab");
  CHECK(access.server == "https://api.example:6443");
  CHECK(access.name_space == "ml");
  CHECK(access.token.reveal() == "s3cr3t-token");
  CHECK(access.verifies);
}

TEST_CASE("files are merged: the first one wins, and paths are relative to their file") {
  Machine machine;
  fs::create_directories(machine.path("one"));
  fs::create_directories(machine.path("two"));
  machine.put("one/config",
              "contexts: [{name: lab, context: {cluster: c, user: u}}]\n"
              "users: [{name: u, user: {tokenFile: token, client-certificate: crt, client-key: "
              "key}}]\n");
  machine.put("one/token", "first\n");
  machine.put("one/crt", "CERT");
  machine.put("one/key", "KEY");
  machine.put("two/config",
              "current-context: lab\n"
              "contexts: [{name: lab, context: {cluster: other, user: other}}]\n"
              "clusters: [{name: c, cluster: {server: \"https://c\", certificate-authority-data: " +
                  base64_encode("CA") +
                  ", tls-server-name: api, proxy-url: \"http://proxy:3128\"}}]\n"
                  "users: [{name: u, user: {token: second}}]\n");
  machine.files = machine.path("missing") + "::" + machine.path("one/config") + ":" +
                  machine.path("two/config");
  const auto access = machine.find();
  CHECK(access.server == "https://c");
  CHECK(access.ca == "CA");
  CHECK(access.server_name == "api");
  CHECK(access.proxy.reveal() == "http://proxy:3128");
  CHECK(access.token_file == machine.path("one/token"));
  CHECK(access.client_certificate == "CERT");
  CHECK(access.client_key.reveal() == "KEY");
  CHECK(access.token.empty());
}

TEST_CASE("what is missing is named, and what there is") {
  Machine machine;
  machine.files = machine.path("a");
  CHECK(machine.failure().find("there is no kubeconfig") != std::string::npos);
  machine.put("a", simple);
  CHECK(machine.failure("lap").find("did you mean `lab`?") != std::string::npos);
  machine.put("a", "contexts: [{name: lab, context: {cluster: c, user: u}}]");
  CHECK(machine.failure().find("no current context") != std::string::npos);
  CHECK(machine.failure("lab").find("names the cluster `c`, which no kubeconfig has") !=
        std::string::npos);
}

TEST_CASE("malformed kubeconfigs are refused without their secrets") {
  Machine machine;
  machine.files = machine.path("a");
  for (const auto* user :
       {"{token: [s3cr3t-token]}", "{token: {a: s3cr3t-token}}",
        "{client-key-data: \"s3cr3t-token!\"}", "{client-key-data: czNjcjN0LXRva2Vu}",
        "{exec: s3cr3t-token}", "{exec: {command: [s3cr3t-token]}}", "{exec: {args: s3cr3t-token}}",
        "{token: s3cr3t-token, as: admin}", "{auth-provider: {name: oidc, id: s3cr3t-token}}",
        "{token: s3cr3t-token, token: s3cr3t-token}", "s3cr3t-token", "{token: s3cr3t-token"}) {
    CAPTURE(user);
    machine.put("a", with_user(user));
    const auto text = machine.failure();
    CHECK(!text.empty());
    CHECK(text.find("s3cr3t") == std::string::npos);
    CHECK(text.find("czNjcjN0") == std::string::npos);
  }
  for (const auto* server : {"ftp://x", "", "https://user:s3cr3t@x"}) {
    machine.put("a", replace_all(simple, "https://api.example:6443/", server));
    CHECK(machine.failure().find("`server` of cluster `c`") != std::string::npos);
    CHECK(machine.failure().find("s3cr3t") == std::string::npos);
  }
}

TEST_CASE("in a pod, its own service account logs in") {
  Machine machine;
  fs::create_directories(machine.path("pod"));
  machine.put("pod/token", "t\n");
  machine.put("pod/ca.crt", "CA");
  machine.put("pod/namespace", "ml\n");
  machine.files = machine.path("missing");
  const auto access = machine.find({}, true);
  CHECK(access.context == "in-cluster");
  CHECK(access.server == "https://10.0.0.1:443");
  CHECK(access.name_space == "ml");
  CHECK(access.token_file == machine.path("pod/token"));
  CHECK(machine.find("in-cluster", true).server == access.server);
}

namespace {

std::string plugin_user(const std::string& more = "interactiveMode: IfAvailable") {
  return with_user(
      "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, args: [a b], "
      "env: [{name: FROM_CONFIG, value: given}], installHint: install it, " +
      more + "}}");
}

constexpr auto* good_plugin = R"(n=$(cat "$0.count" 2>/dev/null || echo 0); n=$((n + 1))
echo $n > "$0.count"
printf '%s' "$KUBERNETES_EXEC_INFO" > "$0.info"
printf '%s|%s' "$1" "$FROM_CONFIG" > "$0.args"
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",'
echo '"status":{"token":"t'$n'","expirationTimestamp":"2001-09-09T01:46:40Z"}}')";

std::string authorization(kubernetes::Login& login) {
  http::Request request;
  login.apply(request);
  for (const auto& [name, value] : request.headers) {
    if (name == "Authorization") {
      return value;
    }
  }
  return {};
}

}  // namespace

TEST_CASE("a plugin logs in until its login expires or is refused") {
  Machine machine;
  machine.files = machine.path("config");
  machine.put("config", plugin_user());
  machine.program("plugin", good_plugin);
  std::int64_t now = 999'999'999;  // a second before the login expires
  kubernetes::Login login{{.access = machine.find(), .now = [&] { return now; }}};
  CHECK(authorization(login) == "Bearer t1");
  CHECK(authorization(login) == "Bearer t1");
  CHECK(read_file(machine.path("plugin.args")) == "a b|given");
  CHECK(autopack::parse_json(read_file(machine.path("plugin.info"))) ==
        json{{"kind", "ExecCredential"},
             {"apiVersion", "client.authentication.k8s.io/v1"},
             {"spec", {{"interactive", false}}}});
  CHECK(login.renew());
  CHECK(authorization(login) == "Bearer t2");
  now = 1'000'000'000;
  CHECK(authorization(login) == "Bearer t3");
}

TEST_CASE("a plugin that fails is named, and what it printed is not shown") {
  Machine machine;
  machine.files = machine.path("config");
  const auto failure = [&](const std::string& script, const std::string& config) {
    machine.put("config", config);
    if (!script.empty()) {
      machine.program("plugin", script);
    }
    kubernetes::Login login{{.access = machine.find()}};
    try {
      authorization(login);
    } catch (const Error& error) {
      return error.message() + " " + join(error.causes(), " ") + " " + join(error.hints(), " ");
    }
    return std::string{};
  };
  CHECK(
      failure("", plugin_user()).find("`plugin` of the kubeconfig is not installed  install it") !=
      std::string::npos);
  CHECK(failure("exit 3", plugin_user("interactiveMode: Always")).find("needs a terminal") !=
        std::string::npos);
  CHECK(failure("exit 3", plugin_user("provideClusterInfo: false")).find("no `interactiveMode`") !=
        std::string::npos);
  CHECK(failure("echo hidden; echo why >&2; exit 3", plugin_user()) ==
        "the login program `plugin` of the kubeconfig failed with status 3 why ");
  for (const auto* answer :
       {"hidden", "{}",
        R"({"kind":"ExecCredential","apiVersion":"other","status":{"token":"hidden"}})",
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})",
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{}})",
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",
            "status":{"clientKeyData":"hidden"}})"}) {
    CAPTURE(answer);
    const auto text = failure("cat <<'END'\n" + std::string{answer} + "\nEND", plugin_user());
    CHECK(text.find("`plugin` of the kubeconfig printed") != std::string::npos);
    CHECK(text.find("hidden") == std::string::npos);
  }
}

TEST_CASE("a cluster of GKE gets Google's token, without its plugin") {
  Machine machine;
  machine.files = machine.path("config");
  machine.put("config", with_user("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, "
                                  "command: gke-gcloud-auth-plugin}}"));
  testing::CountingTokens tokens;
  kubernetes::Login login{
      {.access = machine.find(), .google = [&]() -> google::TokenSource& { return tokens; }}};
  CHECK(kubernetes::is_gke(login.access()));
  CHECK(authorization(login) == "Bearer token-1");
  CHECK(login.renew());
  CHECK(authorization(login) == "Bearer token-2");
}

TEST_CASE("a token file is read again for each request") {
  Machine machine;
  machine.files = machine.path("config");
  machine.put("config", with_user("{tokenFile: token}"));
  machine.put("token", "one\n");
  kubernetes::Login login{{.access = machine.find()}};
  CHECK(authorization(login) == "Bearer one");
  machine.put("token", "two\n");
  CHECK(authorization(login) == "Bearer two");
}

}  // namespace autopack::kubernetes_kubeconfig_test
