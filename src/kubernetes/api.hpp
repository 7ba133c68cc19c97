#pragma once

#include "base/report.hpp"
#include "google/service.hpp"
#include "http/client.hpp"
#include "kubernetes/login.hpp"

#include <nlohmann/json_fwd.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::kubernetes {

/// A call of the API server.
struct ApiCall {
  std::string what{};  ///< for messages: "create the job"
  std::string method{"GET"};
  std::string path{};   ///< `/api/v1/namespaces/ml/pods`
  std::string query{};  ///< without `?`
  std::string body{};   ///< JSON
  std::string accept{"application/json"};
  /// For a call that must not be repeated (see http::Request::new_connection).
  bool only_once{false};
};

/// One of the reasons of a refusal.
struct ApiCause {
  std::string field{};  ///< `spec.template.spec.containers[0].image`; may be empty
  std::string message{};
};

/// The server's explanation of a refusal (`Status`).
struct ApiStatus {
  int code{0};            ///< of HTTP
  bool is_status{false};  ///< false: the body is something else
  std::string reason{};   ///< `AlreadyExists`; may be empty
  std::string message{};
  std::vector<ApiCause> causes{};

  /// The path is unknown: nothing of that group is installed.
  bool lacks_group() const { return code == 404 && !is_status; }

  bool lacks_namespace() const;
  /// The refusal is about the rights of the user, not about the object.
  bool lacks_right() const;
};

ApiStatus read_status(const http::Response& response);

struct ApiOptions {
  Login* login{nullptr};
  http::Client* client{nullptr};
  google::Sleep sleep{};
  Reporter* reporter{nullptr};
};

/// The API server: JSON calls, with login, repeated if that is safe. Thread-safe.
class Api {
public:
  explicit Api(ApiOptions options) : options_{std::move(options)} {}

  /// Returns the response, whatever its status. After a 401 it logs in once again: the server did
  /// not execute the call. Throws like http::Client::send.
  http::Response send(const ApiCall& call);
  /// The same for calls that may be repeated: up to five attempts while the server is busy or down.
  http::Response ask(const ApiCall& call);
  /// Returns the JSON object of ask(). Throws Error(remote) if the status is not 2xx.
  nlohmann::json ask_json(const ApiCall& call);
  /// The same; null if the answer is 404.
  nlohmann::json find(const ApiCall& call);
  /// Returns all items of a list, page by page.
  std::vector<nlohmann::json> list(ApiCall call);
  /// Passes the body to `on_data` as it arrives, until the server ends it or `stop` is true.
  http::Response stream(const ApiCall& call,
                        const std::function<void(std::string_view bytes)>& on_data,
                        const std::atomic<bool>* stop);

  Login& login() const { return *options_.login; }

  const ApiOptions& options() const { return options_; }

private:
  http::Response send_once(http::Request request) const;
  http::Request request_of(const ApiCall& call) const;
  void report_warnings(const ApiCall& call, const http::Response& response);

  ApiOptions options_;
  std::mutex mutex_{};
  std::set<std::string> warnings_{};  ///< those that were reported
};

/// Returns the error for a refused call: what failed, the server's reason, and remedies.
Error refusal(const ApiCall& call, const http::Response& response, const Login& login);

/// Returns the JSON object in a response. Throws Error(remote) if it is not 2xx or not an object.
nlohmann::json read_object(const ApiCall& call, const http::Response& response, const Login& login);

/// Returns `/api/v1/namespaces/NS/KIND` or `/apis/GROUP/namespaces/NS/KIND`.
std::string collection_path(std::string_view group,
                            const std::string& name_space,
                            std::string_view plural);

}  // namespace autopack::kubernetes
