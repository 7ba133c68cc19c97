#pragma once

#include "google/job_name.hpp"
#include "google/service.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace autopack::google {

/// A job as the API gives it.
using Job = std::shared_ptr<const nlohmann::json>;

/// Which jobs a list holds.
struct JobQuery {
  std::string project{};
  std::string region{};
  JobKind kind{JobKind::custom};
  std::optional<std::string> filter{};  ///< in the API's own language; none: all
  int page_size{100};
};

/// The job methods of Vertex AI's REST API, for the three collections alike.
class Jobs {
public:
  /// `endpoint_override` is CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM, used as it is.
  Jobs(Service& service, std::optional<std::string> endpoint_override)
      : service_{&service}, override_{std::move(endpoint_override)} {}

  Call create_call(const JobQuery& where, std::string body) const;
  Call get_call(const JobName& name) const;

  /// None when there is no such job.
  Job get(const JobName& name) const;
  /// Hands over each job of every page until `each` returns false.
  void list(const JobQuery& query, const std::function<bool(const Job& job)>& each) const;
  /// Asks for the end of a job; that it has ended already is no error.
  void cancel(const JobName& name) const;

  Service& service() const { return *service_; }

  /// The same jobs asked for over another service.
  Jobs over(Service& service) const { return {service, override_}; }

private:
  std::string url(const std::string& region, const std::string& path) const;

  Service* service_;
  std::optional<std::string> override_;
};

/// The job in an answer that must hold one: Error(remote) unless it is an object with a name.
Job read_job(const Call& call, const http::Response& response);

}  // namespace autopack::google
