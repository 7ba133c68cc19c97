#include "google/logging.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

namespace autopack::google {

using nlohmann::json;

namespace {

constexpr int page_size = 1000;  // the maximum of entries:list

const json& object_at(const json& object, const char* key) {
  static const json nothing = json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : nothing;
}

std::string message_of(const json& entry) {
  if (entry.contains("textPayload")) {
    return text_at(entry, "textPayload");
  }
  for (const auto* key : {"jsonPayload", "protoPayload"}) {
    if (entry.contains(key)) {
      const auto& payload = entry[key];
      const auto message = text_at(payload, "message");
      return message.empty() ? print_json(payload) : message;
    }
  }
  return {};
}

}  // namespace

std::optional<LogEntry> read_log_entry(const json& value) {
  if (!value.is_object()) {
    return std::nullopt;
  }
  LogEntry entry{.time = Timestamp::parse(text_at(value, "timestamp")),
                 .insert_id = text_at(value, "insertId"),
                 .message = message_of(value)};
  if (!entry.time) {
    entry.time = Timestamp::parse(text_at(value, "receiveTimestamp"));
  }
  // An entry without an id is identified by its content.
  if (entry.insert_id.empty()) {
    entry.insert_id = print_json(value);
  }
  if (const auto severity = text_at(value, "severity"); !severity.empty()) {
    entry.severity = severity;
  }
  const auto& labels = object_at(object_at(value, "resource"), "labels");
  if (const auto task = text_at(labels, "task_name"); !task.empty()) {
    entry.task = task;
  }
  return entry;
}

std::string log_filter(const LogQuery& query) {
  return fmt::format(
      R"(resource.type="ml_job" AND resource.labels.job_id={}{} AND timestamp>="{}")",
      double_quoted(query.job_id),
      query.task ? " AND resource.labels.task_name=" + double_quoted(*query.task) : "",
      query.since.text());
}

Call entries_call(const LogQuery& query,
                  const std::optional<std::string>& page_token,
                  const std::optional<std::string>& endpoint_override) {
  json body{{"filter", log_filter(query)},
            {"orderBy", "timestamp asc"},
            {"pageSize", page_size},
            {"resourceNames", json::array({"projects/" + query.project})}};
  if (page_token) {
    body["pageToken"] = *page_token;
  }
  return {.what = fmt::format("read the logs of job `{}`", query.job_id),
          .method = "POST",
          .url = endpoint_of("logging.googleapis.com", endpoint_override) + "/v2/entries:list",
          .body = write_json(body)};
}

LogPage read_log_page(const Call& call, const http::Response& response) {
  const auto answer = parse_json(response.body);
  const bool good =
      answer.is_object() && (!answer.contains("entries") || answer["entries"].is_array());
  if (!good) {
    throw Error(ErrorKind::remote, "could not " + call.what)
        .cause(fmt::format("{} {}: the response is not a list of log entries", call.method,
                           redact_url(call.url)));
  }
  LogPage page{.next_page = non_empty(text_at(answer, "nextPageToken"))};
  if (answer.contains("entries")) {
    for (const auto& value : answer["entries"]) {
      if (auto entry = read_log_entry(value)) {
        page.entries.push_back(std::move(*entry));
      } else {
        ++page.unreadable;
      }
    }
  }
  return page;
}

}  // namespace autopack::google
