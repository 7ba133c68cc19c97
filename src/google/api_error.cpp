#include "google/api_error.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace autopack::google {

using nlohmann::json;

namespace {

constexpr std::size_t longest_text = 2000;

/// Tabs separate findings, so this keeps them until the message is split.
std::string readable(std::string_view text) {
  std::string result;
  for (const auto& part : split(text.substr(0, longest_text), '\t')) {
    result += (result.empty() ? "" : " ") + printable(trim(part));
  }
  return std::string{trim(result)};
}

/// Returns the text after a finding's number, `1.` or `1. Field: `, or nothing without a number.
std::optional<std::string_view> behind_number(std::string_view part) {
  const auto digits = std::min(part.find_first_not_of("0123456789"), part.size());
  if (digits == 0 || !part.substr(digits).starts_with('.')) {
    return std::nullopt;
  }
  part.remove_prefix(digits + 1);
  part.remove_prefix(std::min(part.find_first_not_of(" \t\n\v\f\r"), part.size()));
  constexpr std::string_view field = "Field: ";
  part.remove_prefix(part.starts_with(field) ? field.size() : 0);
  return part;
}

/// Splits "List of found errors:\t1.Field: a; Message: b\t2.Field: ...".
std::vector<std::string> split_findings(const std::string& message) {
  if (message.find("List of found errors:") == std::string::npos) {
    return {readable(message)};
  }
  std::vector<std::string> findings;
  for (const auto& part : split(message, '\t')) {
    if (const auto finding = behind_number(part)) {
      findings.push_back(readable(replace_all(std::string{*finding}, "; Message: ", ": ")));
    }
  }
  return findings.empty() ? std::vector<std::string>{readable(message)} : findings;
}

void read_details(const json& details, ApiError& error) {
  for (const auto& detail : details) {
    if (!error.reason) {
      error.reason = non_empty(printable(text_at(detail, "reason")));
    }
    if (detail.is_object() && detail.contains("metadata") && !error.link) {
      error.link = non_empty(printable(text_at(detail["metadata"], "activationUrl")));
    }
  }
}

}  // namespace

ApiError read_api_error(const http::Response& response) {
  ApiError error{.http_status = response.status};
  const auto body = parse_json(response.body);
  const bool has_status = body.is_object() && body.contains("error") && body["error"].is_object();
  if (!has_status) {
    error.message = readable(std::string_view{response.body}.substr(0, 300));
    error.findings = {error.message};
    return error;
  }
  const auto& status = body["error"];
  const auto message = text_at(status, "message");
  error.status = non_empty(printable(text_at(status, "status")));
  error.message = readable(message);
  error.findings = split_findings(message);
  if (status.contains("details") && status["details"].is_array()) {
    read_details(status["details"], error);
  }
  return error;
}

std::string describe(const ApiError& error, const std::string& method, const std::string& url) {
  return fmt::format("{} {}: {}{}", method, redact_url(url.substr(0, url.find('?'))),
                     error.http_status, error.status ? " " + *error.status : "");
}

}  // namespace autopack::google
