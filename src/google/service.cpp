#include "google/service.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/api_error.hpp"
#include "google/explanation.hpp"
#include "http/retry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <thread>

namespace autopack::google {

using nlohmann::json;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds slice{50};

double draw() {
  std::random_device device;
  return std::uniform_real_distribution<>{}(device);
}

/// Returns project and region from the path of a URL.
FieldPlace place_of(const std::string& url) {
  const auto parts = split(url.substr(0, url.find('?')), '/');
  const auto after = [&](const char* word) {
    const auto at = std::ranges::find(parts, word);
    return at == parts.end() || at + 1 == parts.end() ? std::string{} : *(at + 1);
  };
  return {.project = non_empty(after("projects")), .region = non_empty(after("locations"))};
}

}  // namespace

Sleep interruptible_sleep(const Cancellation* cancellation) {
  return [cancellation](milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    for (auto now = end - time; now < end; now = std::chrono::steady_clock::now()) {
      if (cancellation != nullptr) {
        cancellation->throw_if_requested();
      }
      std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(slice, end - now));
    }
    if (cancellation != nullptr) {
      cancellation->throw_if_requested();
    }
  };
}

http::Response Service::send(const Call& call) const {
  return google::send({.client = options_.client, .credentials = &options_.credentials()},
                      {.what = call.what,
                       .method = call.method,
                       .url = call.url,
                       .headers = call.headers,
                       .body = call.body,
                       .new_connection = call.only_once});
}

http::Response Service::ask(const Call& call) const {
  for (http::Attempt attempt;; ++attempt.number) {
    attempt.reason.reset();
    attempt.status.reset();
    const auto delay = [&] { return http::retry_delay(attempt, draw(), std::time(nullptr)); };
    try {
      auto response = send(call);
      attempt.status = response.status;
      attempt.retry_after = response.header("retry-after").value_or("");
      const auto wait = delay();
      if (!wait) {
        return response;
      }
      options_.sleep(*wait);
    } catch (const http::TransportError& error) {
      attempt.reason = error.reason();
      attempt.retry_after.clear();
      const auto wait = delay();
      if (!wait) {
        throw;
      }
      options_.sleep(*wait);
    }
  }
}

json Service::ask_json(const Call& call) const {
  const auto response = ask(call);
  if (!response.ok()) {
    throw refusal("could not " + call.what, call, response);
  }
  auto answer = parse_json(response.body);
  if (!answer.is_object()) {
    throw Error(ErrorKind::remote, "could not " + call.what)
        .cause(fmt::format("{} {}: the response is not a JSON object", call.method,
                           redact_url(call.url.substr(0, call.url.find('?')))));
  }
  return answer;
}

Service Service::over(http::Client& client) const {
  Service other{options_};
  other.options_.client = &client;
  other.options_.sleep = interruptible_sleep(nullptr);
  return other;
}

Error refusal(const std::string& message, const Call& call, const http::Response& response) {
  const auto answer = read_api_error(response);
  auto error = Error(ErrorKind::remote, message).cause(describe(answer, call.method, call.url));
  for (const auto& finding : answer.findings) {
    if (!finding.empty()) {
      error.cause(finding);
    }
  }
  const auto place = place_of(call.url);
  if (const auto found = explain(fmt::format("{} {} {}", answer.status.value_or(""),
                                             answer.reason.value_or(""), answer.message),
                                 place)) {
    error.cause(found->why);
    error.hint(found->command);
  }
  if (answer.link) {
    error.hint(*answer.link);
  }
  return error;
}

bool is_passing(int status) {
  return status == 408 || status == 429 || status >= 500;
}

std::string endpoint_of(const std::string& host, const std::optional<std::string>& override_url) {
  if (!override_url) {
    return "https://" + host;
  }
  std::string_view base = *override_url;
  while (base.ends_with('/')) {
    base.remove_suffix(1);
  }
  return std::string{base};
}

}  // namespace autopack::google
