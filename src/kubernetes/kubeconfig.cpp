#include "kubernetes/kubeconfig.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "job/yaml_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

// Files are merged as kubectl does: the first file that sets a value or names an entry wins, and
// paths in an entry are relative to the file of that entry.

namespace autopack::kubernetes {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto* pod_context = "in-cluster";

/// An entry of one of the lists, and the file that it is from.
struct Entry {
  json value{};
  fs::path file{};
};

using Entries = std::map<std::string, Entry>;

/// The merged files.
struct Merged {
  std::vector<fs::path> files{};  ///< those that exist
  std::string current{};
  Entries clusters{};
  Entries users{};
  Entries contexts{};
};

Error unusable(const fs::path& file, const std::string& what) {
  return {ErrorKind::usage, fmt::format("`{}`: {}", file.string(), what)};
}

/// Reads typed values of one entry; its messages name the entry, never the value.
class Fields {
public:
  Fields(const Entry& entry, std::string what) : entry_{entry}, what_{std::move(what)} {}

  std::string text(const char* key) const {
    const auto found = find(key);
    if (found == nullptr) {
      return {};
    }
    if (!found->is_string()) {
      throw wrong(key, "a string");
    }
    return found->get<std::string>();
  }

  bool flag(const char* key) const {
    const auto found = find(key);
    if (found != nullptr && !found->is_boolean()) {
      throw wrong(key, "true or false");
    }
    return found != nullptr && found->get<bool>();
  }

  const json* list(const char* key) const {
    const auto found = find(key);
    if (found != nullptr && !found->is_array()) {
      throw wrong(key, "a list");
    }
    return found;
  }

  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all;
    if (const auto* found = list(key)) {
      for (const auto& element : *found) {
        if (!element.is_string()) {
          throw wrong(key, "a list of strings");
        }
        all.push_back(element.get<std::string>());
      }
    }
    return all;
  }

  /// Returns the text of `key` as a path relative to the file; empty if it is absent.
  fs::path path(const char* key) const {
    const fs::path given = text(key);
    return given.empty() ? given : entry_.file.parent_path() / given;
  }

  /// Returns the bytes of `KEY-data`, else of the file that `KEY` names; empty without both.
  std::string bytes(const char* key) const {
    const auto data = std::string{key} + "-data";
    if (const auto encoded = text(data.c_str()); !encoded.empty()) {
      auto decoded = base64_decode(encoded);
      if (!decoded) {
        throw wrong(data.c_str(), "base64");
      }
      return *decoded;
    }
    const auto file = path(key);
    return file.empty() ? std::string{} : read_file(file);
  }

  Error wrong(const char* key, const char* type) const {
    return unusable(entry_.file, fmt::format("`{}` of {} is not {}", key, what_, type));
  }

  const json* find(const char* key) const {
    const auto found = entry_.value.find(key);
    return found == entry_.value.end() || found->is_null() ? nullptr : &*found;
  }

private:
  const Entry& entry_;
  std::string what_;
};

void take_entries(const json& document,
                  const char* list,
                  const char* member,
                  const fs::path& file,
                  Entries& into) {
  const auto found = document.find(list);
  if (found == document.end() || found->is_null()) {
    return;
  }
  if (!found->is_array()) {
    throw unusable(file, fmt::format("`{}` is not a list", list));
  }
  for (const auto& one : *found) {
    const auto name = text_at(one, "name");
    const auto value = one.is_object() ? one.find(member) : one.end();
    if (name.empty()) {
      throw unusable(file, fmt::format("an entry of `{}` has no name", list));
    }
    const bool has_value = value != one.end() && !value->is_null();
    if (has_value && !value->is_object()) {
      throw unusable(file, fmt::format("`{}` of `{}` is not a mapping", member, printable(name)));
    }
    into.emplace(name, Entry{.value = has_value ? *value : json::object(), .file = file});
  }
}

std::vector<fs::path> files_of(const Environment& environment) {
  std::vector<fs::path> files;
  if (const auto named = environment.get("KUBECONFIG")) {
    for (const auto& name : split(*named, ':')) {
      if (!name.empty()) {
        files.emplace_back(name);
      }
    }
    return files;
  }
  return {environment.home() / ".kube" / "config"};
}

Merged read_all(const Environment& environment) {
  Merged merged;
  for (const auto& name : files_of(environment)) {
    const auto text = read_file_if_exists(name, FileSort::any);
    if (!text) {
      continue;
    }
    std::error_code code;
    const auto absolute = fs::absolute(name, code);
    const auto& file = code ? name : absolute;
    merged.files.push_back(file);
    const auto document = job::json_of_yaml(*text, file.string());
    if (document.is_null()) {
      continue;
    }
    if (!document.is_object()) {
      throw unusable(file, "it is not a kubeconfig");
    }
    if (merged.current.empty()) {
      merged.current = text_at(document, "current-context");
    }
    take_entries(document, "clusters", "cluster", file, merged.clusters);
    take_entries(document, "users", "user", file, merged.users);
    take_entries(document, "contexts", "context", file, merged.contexts);
  }
  return merged;
}

std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries) {
    names.push_back(name);
  }
  return names;
}

const Entry& find_entry(const Entries& entries,
                        const std::string& name,
                        const char* kind,
                        const std::string& context) {
  const auto found = entries.find(name);
  if (found == entries.end()) {
    throw Error(ErrorKind::usage,
                fmt::format("context `{}` names the {} `{}`, which no kubeconfig has",
                            printable(context), kind, printable(name)))
        .hint("show it: kubectl config view");
  }
  return found->second;
}

const json* exec_config(const Fields& cluster) {
  if (const auto* extensions = cluster.list("extensions")) {
    for (const auto& one : *extensions) {
      if (text_at(one, "name") == "client.authentication.k8s.io/exec" &&
          one.contains("extension")) {
        return &one["extension"];
      }
    }
  }
  return nullptr;
}

void read_cluster(const Entry& entry, const std::string& name, Access& access) {
  const Fields fields{entry, fmt::format("cluster `{}`", printable(name))};
  access.server = fields.text("server");
  while (access.server.ends_with('/')) {
    access.server.pop_back();
  }
  const auto url = Url::parse(access.server);
  if (!url || (url->scheme != "https" && url->scheme != "http") || !url->user.empty()) {
    throw fields.wrong("server", "the address of an API server");
  }
  access.ca = fields.bytes("certificate-authority");
  access.verifies = !fields.flag("insecure-skip-tls-verify");
  if (!access.verifies && !access.ca.empty()) {
    throw unusable(entry.file, fmt::format("cluster `{}` has both a certificate authority and "
                                           "`insecure-skip-tls-verify`",
                                           printable(name)));
  }
  access.server_name = fields.text("tls-server-name");
  access.proxy = Secret{fields.text("proxy-url")};
  if (!access.proxy.empty()) {
    const auto proxy = Url::parse(access.proxy.reveal());
    static constexpr std::array schemes{"http", "https", "socks5"};
    if (!proxy || std::ranges::find(schemes, proxy->scheme) == schemes.end()) {
      throw fields.wrong("proxy-url", "an address with http, https or socks5");
    }
  }
}

ExecPlugin read_exec(const Entry& user, const json& value, const std::string& what) {
  if (!value.is_object()) {
    throw unusable(user.file, fmt::format("`exec` of {} is not a mapping", what));
  }
  const Entry entry{.value = value, .file = user.file};
  const Fields fields{entry, "`exec` of " + what};
  ExecPlugin plugin{.api_version = fields.text("apiVersion"),
                    .command = fields.text("command"),
                    .args = fields.texts("args"),
                    .interactive_mode = fields.text("interactiveMode"),
                    .provides_cluster_info = fields.flag("provideClusterInfo"),
                    .install_hint = fields.text("installHint")};
  if (plugin.command.empty()) {
    throw fields.wrong("command", "a program");
  }
  // A name alone is found on PATH.
  if (plugin.command.find('/') != std::string::npos) {
    plugin.command = (user.file.parent_path() / plugin.command).string();
  }
  if (const auto* variables = fields.list("env")) {
    for (const auto& one : *variables) {
      const auto name = text_at(one, "name");
      if (name.empty() || name.find('=') != std::string::npos) {
        throw fields.wrong("env", "a list of variables");
      }
      plugin.env[name] = text_at(one, "value");
    }
  }
  return plugin;
}

void read_user(const Entry& entry, const std::string& name, Access& access) {
  const auto what = fmt::format("user `{}`", printable(name));
  const Fields fields{entry, what};
  access.user = name;
  access.client_certificate = fields.bytes("client-certificate");
  access.client_key = Secret{fields.bytes("client-key")};
  if (access.client_certificate.empty() != access.client_key.empty()) {
    throw unusable(entry.file, what + " has a client certificate or its key, but not both");
  }
  access.token_file = fields.path("tokenFile");
  access.token = Secret{fields.text("token")};
  access.basic_user = fields.text("username");
  access.basic_password = Secret{fields.text("password")};
  if (const auto* exec = fields.find("exec")) {
    access.exec = read_exec(entry, *exec, what);
  }
  if (const auto* provider = fields.find("auth-provider")) {
    if (text_at(*provider, "name") != "gcp") {
      throw unusable(entry.file, what + " logs in by an `auth-provider`, which Kubernetes removed")
          .hint("create the entry again with the tool that created it, so that it has `exec`");
    }
    access.exec = ExecPlugin{.command = "gke-gcloud-auth-plugin"};
  }
  for (const auto* key : {"as", "as-uid", "as-groups"}) {
    if (fields.find(key) != nullptr) {
      throw unusable(entry.file, fmt::format("{} impersonates another by `{}`, which autopack does "
                                             "not support",
                                             what, key));
    }
  }
}

std::string joined(const std::vector<fs::path>& files) {
  std::vector<std::string> names;
  for (const auto& file : files) {
    names.push_back(file.string());
  }
  return join(names, ", ");
}

Access access_of_pod(const AccessOptions& options) {
  const auto& environment = *options.environment;
  const auto host = environment.get("KUBERNETES_SERVICE_HOST").value_or("");
  const auto port = environment.get("KUBERNETES_SERVICE_PORT").value_or("443");
  const auto& directory = options.pod_directory;
  Access access{
      .context = pod_context,
      .origin = "the pod's service account",
      .server = fmt::format("https://{}:{}",
                            host.find(':') == std::string::npos ? host : "[" + host + "]", port),
      .ca = read_file_if_exists(directory / "ca.crt").value_or(""),
      .token_file = directory / "token"};
  const auto own = read_file_if_exists(directory / "namespace").value_or("");
  if (!trim(own).empty()) {
    access.name_space = trim(own);
  }
  return access;
}

bool is_in_pod(const AccessOptions& options) {
  std::error_code code;
  return options.environment->get("KUBERNETES_SERVICE_HOST") &&
         fs::exists(options.pod_directory / "token", code);
}

Error no_cluster(const Environment& environment, const Merged& merged) {
  if (!merged.files.empty()) {
    return Error(ErrorKind::usage, "no cluster is chosen: the kubeconfig has no current context")
        .cause(joined(merged.files))
        .hint("choose one: --context=NAME, or kubectl config use-context NAME")
        .hint("list them: kubectl config get-contexts");
  }
  return Error(ErrorKind::usage, fmt::format("there is no kubeconfig: `{}` does not exist",
                                             joined(files_of(environment))))
      .hint(
          "let your cluster write it: gcloud container clusters get-credentials NAME, "
          "aws eks update-kubeconfig --name NAME, az aks get-credentials --name NAME")
      .hint("name another file: export KUBECONFIG=FILE");
}

}  // namespace

Access find_access(const AccessOptions& options) {
  const auto merged = read_all(*options.environment);
  const auto context = options.context.value_or(merged.current);
  Access access;
  if (context == pod_context ? !merged.contexts.contains(context) : context.empty()) {
    if (!is_in_pod(options)) {
      throw no_cluster(*options.environment, merged);
    }
    access = access_of_pod(options);
  } else {
    const auto found = merged.contexts.find(context);
    if (found == merged.contexts.end()) {
      Error error{ErrorKind::usage,
                  fmt::format("no kubeconfig has the context `{}`", printable(context))};
      error.cause(merged.files.empty() ? "there is no kubeconfig" : joined(merged.files));
      const auto names = names_of(merged.contexts);
      if (const auto near = nearest(context, names)) {
        error.hint(fmt::format("did you mean `{}`?", printable(*near)));
      }
      throw error.hint("list them: kubectl config get-contexts");
    }
    const Fields fields{found->second, fmt::format("context `{}`", printable(context))};
    access.context = context;
    access.origin = found->second.file.string();
    if (auto name = fields.text("namespace"); !name.empty()) {
      access.name_space = std::move(name);
    }
    const auto cluster = fields.text("cluster");
    const auto& entry = find_entry(merged.clusters, cluster, "cluster", context);
    read_cluster(entry, cluster, access);
    if (const auto user = fields.text("user"); !user.empty()) {
      read_user(find_entry(merged.users, user, "user", context), user, access);
    }
    if (access.exec && access.exec->provides_cluster_info) {
      const Fields of_cluster{entry, fmt::format("cluster `{}`", printable(cluster))};
      if (const auto* config = exec_config(of_cluster)) {
        access.exec->cluster_config = std::make_shared<const json>(*config);
      }
    }
  }
  access.name_space = options.name_space.value_or(access.name_space);
  return access;
}

bool is_gke(const Access& access) {
  const auto url = Url::parse(access.server);
  return access.context.starts_with("gke_") || (url && url->host.ends_with(".gke.goog")) ||
         (access.exec && fs::path{access.exec->command}.filename() == "gke-gcloud-auth-plugin");
}

std::vector<std::string> context_names(const Environment& environment) {
  return names_of(read_all(environment).contexts);
}

}  // namespace autopack::kubernetes
