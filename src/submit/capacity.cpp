#include "submit/capacity.hpp"

#include "base/json.hpp"
#include "base/line.hpp"
#include "base/text.hpp"
#include "submit/job_state.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace autopack::submit {

using nlohmann::json;

namespace {

// google.rpc.Code
constexpr std::int64_t resource_exhausted{8};
constexpr std::int64_t unavailable{14};

constexpr std::size_t longest_message{2000};

bool has_any(const std::string& text, std::initializer_list<std::string_view> fragments) {
  return std::ranges::any_of(fragments, [&](std::string_view fragment) {
    return text.find(fragment) != std::string::npos;
  });
}

/// `text` is in lower case.
bool names_capacity(const std::string& text) {
  return has_any(text, {"resources are insufficient in region", "custom_model_training_",
                        "quota metrics exceed"});
}

/// A replica's end: also running out of memory, whose code is that of a quota.
bool names_replica(const std::string& text) {
  return has_any(text, {"replica", "exited with", "out of memory"});
}

}  // namespace

std::optional<std::string> lack_of_capacity(const json& job) {
  const auto state = state_of(job);
  const auto error = job.find("error");
  if (!state.ended || (state.word != "failed" && state.word != "expired") || error == job.end() ||
      !error->is_object()) {
    return std::nullopt;
  }
  const auto message = text_at(*error, "message").substr(0, longest_message);
  const auto text = to_lower(message);
  if (names_replica(text)) {
    return std::nullopt;
  }
  const auto code = error->value("code", json{});
  const auto number = code.is_number_integer() ? code.get<std::int64_t>() : 0;
  const bool is_code = number == resource_exhausted || number == unavailable;
  // A job that ran had its machines: then the code alone is about something else.
  const bool has_run = !text_at(job, "startTime").empty();
  if (!names_capacity(text) && (!is_code || has_run)) {
    return std::nullopt;
  }
  return message.empty() ? "no message" : printable(single_spaced(message));
}

bool lacks_capacity(const google::ApiError& refusal) {
  const auto text = to_lower(refusal.message);
  if (refusal.http_status == 429) {
    return names_capacity(text);
  }
  return refusal.http_status == 400 && has_any(text, {"region", "location"}) &&
         has_any(text, {"not supported", "unsupported", "not available", "unavailable",
                        "resources are insufficient"});
}

}  // namespace autopack::submit
