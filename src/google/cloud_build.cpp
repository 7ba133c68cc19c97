#include "google/cloud_build.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/api_error.hpp"

#include <fmt/format.h>

namespace autopack::google {

using nlohmann::json;

namespace {

/// Prevents an endless loop if a service returns the same page forever.
constexpr int most_build_pages = 1000;

/// The id becomes part of a URL that is called with a token.
bool is_build(const json& value) {
  const auto id = text_at(value, "id");
  return value.is_object() && !id.empty() && is_alphanumeric(id, "-");
}

Error unreadable_build(const Call& call, const std::string& text) {
  return Error(ErrorKind::remote, "could not " + call.what)
      .cause(fmt::format("{} {}: {}", call.method,
                         redact_url(call.url.substr(0, call.url.find('?'))), text));
}

}  // namespace

std::string Builds::url(const std::string& path) const {
  return fmt::format("{}/v1/projects/{}/locations/{}/builds{}",
                     endpoint_of("cloudbuild.googleapis.com", override_), place_.project,
                     place_.region, path);
}

Call Builds::create_call(std::string body) const {
  return {.what = "create the build",
          .method = "POST",
          .url = url(""),
          .body = std::move(body),
          .only_once = true};
}

Error Builds::refused(const std::string& message,
                      const Call& call,
                      const http::Response& response) const {
  const auto answer = read_api_error(response);
  if (response.status != 403 || answer.reason == "SERVICE_DISABLED" ||
      answer.message.find("has not been used in project") != std::string::npos) {
    return refusal(message, call, response);
  }
  Error error = Error(ErrorKind::remote, message).cause(describe(answer, call.method, call.url));
  if (!answer.message.empty()) {
    error.cause(answer.message);
  }
  return error.hint(
      fmt::format("builds need a role: gcloud projects add-iam-policy-binding {} --member=user:YOU "
                  "--role=roles/cloudbuild.builds.editor",
                  shell_quote(place_.project)));
}

Build Builds::get(const std::string& id) const {
  const Call call{.what = fmt::format("read build `{}`", id), .url = url("/" + id)};
  const auto response = service_->send(call);
  if (response.status == 404) {
    return nullptr;
  }
  if (!response.ok()) {
    throw refused("could not " + call.what, call, response);
  }
  auto answer = parse_json(response.body);
  if (!is_build(answer)) {
    throw unreadable_build(call, "the response is not a build");
  }
  return std::make_shared<const json>(std::move(answer));
}

void Builds::list(const std::string& tag,
                  const std::function<bool(const Build& build)>& each) const {
  const auto first = url("?pageSize=100&filter=" + percent_encode(fmt::format("tags=\"{}\"", tag)));
  Call call{.what = fmt::format("list the builds of `{}`", place_.region), .url = first};
  for (int page = 0; page < most_build_pages; ++page) {
    const auto response = service_->ask(call);
    if (!response.ok()) {
      throw refused("could not " + call.what, call, response);
    }
    const auto answer = parse_json(response.body);
    if (!answer.is_object()) {
      throw unreadable_build(call, "the response is not a JSON object");
    }
    for (const auto& build : list_in(answer, "builds")) {
      if (!is_build(build)) {
        throw unreadable_build(call, "the list contains something that is not a build");
      }
      if (!each(std::make_shared<const json>(build))) {
        return;
      }
    }
    const auto next = text_at(answer, "nextPageToken");
    if (next.empty()) {
      return;
    }
    call.url = first + "&pageToken=" + percent_encode(next);
  }
  throw unreadable_build(call, "the list does not end");
}

void Builds::cancel(const std::string& id) const {
  const Call call{.what = fmt::format("cancel build `{}`", id),
                  .method = "POST",
                  .url = url("/" + id + ":cancel"),
                  .body = "{}"};
  const auto response = service_->ask(call);
  // 400 FAILED_PRECONDITION: it has ended.
  if (!response.ok() && response.status != 400) {
    throw refused("could not " + call.what, call, response);
  }
}

Build read_created_build(const Call& call, const http::Response& response) {
  const auto answer = parse_json(response.body);
  if (const auto& build = object_in(object_in(answer, "metadata"), "build"); is_build(build)) {
    return std::make_shared<const json>(build);
  }
  throw unreadable_build(call, fmt::format("{}, but the response names no build", response.status));
}

const json& object_in(const json& object, const char* key) {
  static const json nothing = json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : nothing;
}

const json& list_in(const json& object, const char* key) {
  static const json nothing = json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : nothing;
}

std::string build_page(const json& build) {
  const auto url = Url::parse(text_at(build, "logUrl"));
  const bool is_console = url && url->scheme == "https" && url->host.ends_with(".google.com");
  return is_console ? printable(text_at(build, "logUrl")) : std::string{};
}

}  // namespace autopack::google
