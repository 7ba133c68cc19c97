#pragma once

#include "google/job_name.hpp"
#include "google/service.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace autopack::google {

/// A job as the API returns it.
using Job = std::shared_ptr<const nlohmann::json>;

/// The jobs to list.
struct JobQuery {
  std::string project{};
  std::string region{};
  JobKind kind{JobKind::custom};
  std::optional<std::string> filter{};  ///< in the API's filter language; absent: all
  int page_size{100};
};

/// The job methods of Vertex AI's REST API, the same for the three collections.
class Jobs {
public:
  /// `endpoint_override` is CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM, used unchanged.
  Jobs(Service& service, std::optional<std::string> endpoint_override)
      : service_{&service}, override_{std::move(endpoint_override)} {}

  Call create_call(const JobQuery& where, std::string body) const;
  Call get_call(const JobName& name) const;

  /// Returns null if there is no such job.
  Job get(const JobName& name) const;
  /// Calls `each` with each job of every page until it returns false.
  void list(const JobQuery& query, const std::function<bool(const Job& job)>& each) const;
  /// Requests the end of a job; not an error if it has already ended.
  void cancel(const JobName& name) const;

  Service& service() const { return *service_; }

  /// Returns the same jobs over another service.
  Jobs over(Service& service) const { return {service, override_}; }

private:
  std::string url(const std::string& region, const std::string& path) const;

  Service* service_;
  std::optional<std::string> override_;
};

/// Returns the job in a response. Throws Error(remote) unless it is an object with a name.
Job read_job(const Call& call, const http::Response& response);

}  // namespace autopack::google
