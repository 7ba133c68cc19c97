#include "preflight/google_apis.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/api.hpp"

#include <fmt/format.h>

#include <array>

namespace autopack::preflight {

using nlohmann::json;

namespace {

struct ServiceName {
  Service service;
  std::string_view name;
  std::string_view prefix;  ///< of paths; gcloud's overrides already contain it
};

constexpr std::array service_names{
    ServiceName{Service::aiplatform, "aiplatform", ""},
    ServiceName{Service::artifactregistry, "artifactregistry", ""},
    ServiceName{Service::cloudresourcemanager, "cloudresourcemanager", ""},
    ServiceName{Service::iam, "iam", ""},
    ServiceName{Service::serviceusage, "serviceusage", ""},
    ServiceName{Service::storage, "storage", "/storage/v1"},
    ServiceName{Service::compute, "compute", "/compute/v1"},
};

const ServiceName& name_of(Service service) {
  return service_names.at(static_cast<std::size_t>(service));
}

std::string without_slashes(std::string_view text) {
  while (text.ends_with('/')) {
    text.remove_suffix(1);
  }
  return std::string{text};
}

bool is_on_this_machine(const std::string& root) {
  const auto url = Url::parse(root);
  return url && url->is_loopback();
}

}  // namespace

std::string host_of(Service service) {
  return fmt::format("{}.googleapis.com", name_of(service).name);
}

Endpoints::Endpoints(const Environment& environment,
                     const google::GcloudConfiguration& configuration,
                     std::optional<std::string> region)
    : region_{std::move(region)} {
  for (const auto& entry : service_names) {
    const auto root =
        google::find_endpoint(std::string{entry.name}, environment, configuration).value;
    if (!root) {
      continue;
    }
    auto whole = without_slashes(*root);
    whole += whole.ends_with(entry.prefix) ? "" : entry.prefix;
    overrides_.emplace(entry.service, std::move(whole));
  }
  const auto jobs = overrides_.find(Service::aiplatform);
  is_stand_in_ = jobs != overrides_.end() && is_on_this_machine(jobs->second);
}

std::optional<std::string> Endpoints::root(Service service) const {
  if (const auto found = overrides_.find(service); found != overrides_.end()) {
    return found->second;
  }
  if (is_stand_in_) {
    return std::nullopt;
  }
  const std::string location = service == Service::aiplatform ? region_.value() + "-" : "";
  return fmt::format("https://{}{}{}", location, host_of(service), name_of(service).prefix);
}

google::TokenSource& GoogleApis::credentials() {
  const std::lock_guard lock{mutex_};
  if (!credentials_) {
    credentials_ = options_.credentials();
  }
  return *credentials_;
}

ApiAnswer GoogleApis::send(http::Request request, Service service, const std::string& path) {
  const auto root = options_.endpoints.root(service);
  if (!root) {
    throw Error(ErrorKind::environment,
                fmt::format("jobs go to this machine, which has no replacement for `{}`",
                            host_of(service)));
  }
  request.url = *root + path;
  request.timeout = std::chrono::seconds{10};
  const auto response =
      google::send({.client = options_.client, .credentials = &credentials()}, request);
  ApiAnswer answer{.status = response.status};
  auto body = parse_json(response.body);
  if (answer.ok() && !body.is_object()) {
    throw Error(ErrorKind::remote,
                fmt::format("the response of `{}` is not a JSON object", redact_url(request.url)));
  }
  if (!answer.ok()) {
    answer.error = google::read_api_error(response);
  }
  answer.body = std::make_shared<const json>(body.is_discarded() ? json{} : std::move(body));
  return answer;
}

ApiAnswer GoogleApis::get(Service service, const std::string& path) {
  return send({.what = "check the job"}, service, path);
}

ApiAnswer GoogleApis::post(Service service, const std::string& path, const json& body) {
  return send({.what = "check the job", .method = "POST", .body = write_json(body)}, service, path);
}

Problem refusal_finding(const std::string& check,
                        const std::string& what,
                        Service service,
                        const ApiAnswer& answer,
                        const std::string& project) {
  const auto host = host_of(service);
  if (answer.error.reason == "SERVICE_DISABLED") {
    std::vector<std::string> remedies{
        fmt::format("gcloud services enable {} --project={}", host, project)};
    const bool is_needed = service == Service::aiplatform || service == Service::artifactregistry;
    return is_needed ? failing("api", fmt::format("the API `{}` is off", host),
                               answer.error.message, std::move(remedies))
                     : unknown(check, what, fmt::format("the API `{}` is off", host),
                               std::move(remedies));
  }
  if (answer.error.reason == "CONSUMER_INVALID") {
    return failing("project", fmt::format("the project `{}` is not valid", project),
                   answer.error.message,
                   {fmt::format("gcloud projects describe {}", project), "gcloud projects list"});
  }
  std::vector<std::string> remedies;
  if (answer.status == 401) {
    remedies.emplace_back("gcloud auth application-default login");
  }
  return unknown(check, what,
                 fmt::format("`{}` answered {}{}{}", host, answer.status,
                             answer.error.status ? " " + *answer.error.status : "",
                             answer.error.message.empty() ? "" : ": " + answer.error.message),
                 std::move(remedies));
}

}  // namespace autopack::preflight
