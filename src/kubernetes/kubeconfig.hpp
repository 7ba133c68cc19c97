#pragma once

#include "base/environment.hpp"
#include "base/secret.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::kubernetes {

/// A program that prints a login (client.authentication.k8s.io).
struct ExecPlugin {
  std::string api_version{};
  std::string command{};  ///< a path, or the name of a program on PATH
  std::vector<std::string> args{};
  std::map<std::string, std::string> env{};
  std::string interactive_mode{};
  bool provides_cluster_info{false};
  std::string install_hint{};
  /// `config` of the cluster's extension `client.authentication.k8s.io/exec`; null if absent.
  std::shared_ptr<const nlohmann::json> cluster_config{};
};

/// How to reach a cluster, and as whom: a context of the user's kubeconfig, or the pod that
/// autopack runs in.
struct Access {
  std::string context{};  ///< `in-cluster` in a pod
  std::string name_space{"default"};
  std::string origin{};  ///< for messages: the file, or the pod

  std::string server{};  ///< without a slash at the end
  std::string ca{};      ///< PEM; empty: the system's certificates
  bool verifies{true};
  std::string server_name{};
  Secret proxy{};

  std::string user{};  ///< its name in the kubeconfig
  std::string client_certificate{};
  Secret client_key{};
  Secret token{};
  std::filesystem::path token_file{};  ///< read again for each login
  std::string basic_user{};
  Secret basic_password{};
  std::optional<ExecPlugin> exec{};
};

struct AccessOptions {
  const Environment* environment{nullptr};
  std::optional<std::string> context{};     ///< absent: the current one
  std::optional<std::string> name_space{};  ///< absent: that of the context
  /// The directory with the login of a pod.
  std::filesystem::path pod_directory{"/var/run/secrets/kubernetes.io/serviceaccount"};
};

/// Returns the access to the chosen context of the files in KUBECONFIG, else of ~/.kube/config,
/// else that of the pod around us. Reads files only. Throws Error(usage) if there is none, or if
/// the context, its cluster or its user is missing or unusable; messages never show secrets.
Access find_access(const AccessOptions& options);

/// Returns true if the cluster is one of Google Kubernetes Engine, by its name, address or login.
bool is_gke(const Access& access);

/// Returns the names of all contexts, sorted; empty without a kubeconfig. Throws as above.
std::vector<std::string> context_names(const Environment& environment);

}  // namespace autopack::kubernetes
