#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/api.hpp"
#include "google/api_error.hpp"
#include "submit/submitter.hpp"
#include "submit/vertex_hints.hpp"

#include <fmt/format.h>

namespace autopack::submit {

using nlohmann::json;

namespace {

class VertexSubmitter final : public Submitter {
public:
  explicit VertexSubmitter(VertexOptions options) : options_{std::move(options)} {}

  Problems check(const job::JobSpec& job) const override;

  void make_ready() override { options_.credentials(); }

  PreparedRequest prepare(const json& body) const override;
  SubmittedJob submit(const json& body) override;

private:
  std::string endpoint() const;
  std::string url(const json& body) const;
  http::Response create(const json& body);
  Error refused(const http::Response& response, const json& body) const;
  Error unclear(const std::string& cause, const json& body) const;

  VertexOptions options_;
};

/// An answer that may come from a proxy in front of a service that has created the job.
bool is_unclear(int status) {
  return status == 408 || status >= 500;
}

Problems VertexSubmitter::check(const job::JobSpec&) const {
  Problems problems;
  if (options_.location.project.empty()) {
    problems.push_back(
        {.message = "no Google Cloud project is set",
         .hints = {"name it: --project=PROJECT, or gcloud config set project PROJECT"}});
  }
  if (options_.location.region.empty()) {
    problems.push_back({.message = "no region is set",
                        .hints = {"name it: --region=us-central1, or gcloud config set ai/region "
                                  "us-central1"}});
  }
  return problems;
}

std::string VertexSubmitter::endpoint() const {
  if (options_.endpoint_override.empty()) {
    return fmt::format("https://{}-aiplatform.googleapis.com", options_.location.region);
  }
  std::string_view base = options_.endpoint_override;
  while (base.ends_with('/')) {
    base.remove_suffix(1);
  }
  return std::string{base};
}

std::string VertexSubmitter::url(const json& body) const {
  return fmt::format("{}/v1/projects/{}/locations/{}/{}?alt=json", endpoint(),
                     options_.location.project, options_.location.region, job::collection_of(body));
}

PreparedRequest VertexSubmitter::prepare(const json& body) const {
  return {.method = "POST", .url = url(body), .body = std::make_shared<const json>(body)};
}

/// The request has no id, so sending it again could make a second job: only answers that surely
/// made none are followed by another try.
http::Response VertexSubmitter::create(const json& body) {
  try {
    return google::send(
        {.client = options_.client, .credentials = &options_.credentials()},
        {.what = "create the job", .method = "POST", .url = url(body), .body = write_json(body)});
  } catch (const http::TransportError& error) {
    using Reason = http::TransportError::Reason;
    if (error.reason() == Reason::timeout || error.reason() == Reason::reset ||
        error.reason() == Reason::protocol) {
      throw unclear(error.message(), body);
    }
    throw;
  }
}

Error VertexSubmitter::unclear(const std::string& cause, const json& body) const {
  const auto name = body.value("displayName", "");
  return Error(ErrorKind::remote,
               fmt::format("it is not known whether job `{}` was created", printable(name)))
      .cause(cause)
      .hint(fmt::format("look before you submit again: gcloud ai custom-jobs list --project={} "
                        "--region={} --filter={}",
                        options_.location.project, options_.location.region,
                        shell_quote(fmt::format("displayName=\"{}\"", printable(name)))));
}

Error VertexSubmitter::refused(const http::Response& response, const json& body) const {
  const auto answer = google::read_api_error(response);
  const auto heading = google::describe(answer, "POST", url(body));
  if (is_unclear(response.status)) {
    return unclear(heading + (answer.message.empty() ? "" : ": " + answer.message), body);
  }
  auto error = Error(ErrorKind::remote, "Vertex AI refused the job").cause(heading);
  for (const auto& finding : answer.findings) {
    if (!finding.empty()) {
      error.cause(finding);
    }
  }
  for (auto& hint : vertex_hints(answer, options_.location)) {
    error.hint(std::move(hint));
  }
  return error;
}

SubmittedJob VertexSubmitter::submit(const json& body) {
  const auto response = create(body);
  if (!response.ok()) {
    throw refused(response, body);
  }
  auto answer = parse_json(response.body);
  if (!answer.is_object() || !answer.contains("name") || !answer["name"].is_string()) {
    throw unclear(fmt::format("POST {}: {}, but the answer names no job", redact_url(url(body)),
                              response.status),
                  body);
  }
  const auto name = answer["name"].get<std::string>();
  return {.name = printable(name), .answer = std::make_shared<const json>(std::move(answer))};
}

}  // namespace

std::unique_ptr<Submitter> make_vertex_submitter(VertexOptions options) {
  return std::make_unique<VertexSubmitter>(std::move(options));
}

}  // namespace autopack::submit
