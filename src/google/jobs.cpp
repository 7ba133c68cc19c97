#include "google/jobs.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

namespace autopack::google {

using nlohmann::json;

namespace {

/// Prevents an endless loop if a service returns the same page forever.
constexpr int most_pages = 10'000;

bool is_job(const json& value) {
  return value.is_object() && !text_at(value, "name").empty();
}

Error unreadable(const Call& call, const std::string& text) {
  return Error(ErrorKind::remote, "could not " + call.what)
      .cause(fmt::format("{} {}: {}", call.method,
                         redact_url(call.url.substr(0, call.url.find('?'))), text));
}

}  // namespace

std::string Jobs::url(const std::string& region, const std::string& path) const {
  return fmt::format("{}/v1/{}", endpoint_of(region + "-aiplatform.googleapis.com", override_),
                     path);
}

Call Jobs::create_call(const JobQuery& where, std::string body) const {
  return {
      .what = "create the job",
      .method = "POST",
      .url = url(where.region, fmt::format("projects/{}/locations/{}/{}?alt=json", where.project,
                                           where.region, collection_of(where.kind))),
      .body = std::move(body),
      .only_once = true};
}

Call Jobs::get_call(const JobName& name) const {
  return {.what = fmt::format("read {} `{}`", words_of(name.kind), name.id),
          .url = url(name.region, name.text())};
}

Job read_job(const Call& call, const http::Response& response) {
  auto answer = parse_json(response.body);
  if (!is_job(answer)) {
    throw unreadable(call, fmt::format("{}, but the response has no job name", response.status));
  }
  return std::make_shared<const json>(std::move(answer));
}

Job Jobs::get(const JobName& name) const {
  const auto call = get_call(name);
  const auto response = service_->ask(call);
  if (response.status == 404) {
    return nullptr;
  }
  if (!response.ok()) {
    throw refusal("could not " + call.what, call, response);
  }
  return read_job(call, response);
}

void Jobs::list(const JobQuery& query, const std::function<bool(const Job& job)>& each) const {
  const auto collection = std::string{collection_of(query.kind)};
  const auto first =
      url(query.region, fmt::format("projects/{}/locations/{}/{}?pageSize={}", query.project,
                                    query.region, collection, query.page_size)) +
      (query.filter ? "&filter=" + percent_encode(*query.filter) : "");
  Call call{.what = fmt::format("list the {}s of `{}`", words_of(query.kind), query.region),
            .url = first};
  for (int page = 0; page < most_pages; ++page) {
    const auto answer = service_->ask_json(call);
    if (answer.contains(collection)) {
      if (!answer[collection].is_array()) {
        throw unreadable(call, fmt::format("`{}` in the response is not a list", collection));
      }
      for (const auto& job : answer[collection]) {
        if (!is_job(job)) {
          throw unreadable(call, "the list contains something that is not a job");
        }
        if (!each(std::make_shared<const json>(job))) {
          return;
        }
      }
    }
    const auto next = text_at(answer, "nextPageToken");
    if (next.empty()) {
      return;
    }
    call.url = first + "&pageToken=" + percent_encode(next);
  }
  throw unreadable(call, "the list does not end");
}

void Jobs::cancel(const JobName& name) const {
  Call call{.what = fmt::format("cancel {} `{}`", words_of(name.kind), name.id),
            .method = "POST",
            .url = url(name.region, name.text() + ":cancel"),
            .body = "{}"};
  const auto response = service_->ask(call);
  if (!response.ok()) {
    throw refusal("could not " + call.what, call, response);
  }
}

}  // namespace autopack::google
