#pragma once

#include "google/service.hpp"
#include "google/timestamp.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace autopack::google {

/// One entry of Cloud Logging, as far as jobs write it.
struct LogEntry {
  std::optional<Timestamp> time{};  ///< none when the entry has none that can be read
  std::string insert_id{};          ///< unique among entries of one time
  std::string severity{"DEFAULT"};
  std::string task{"unknown_task"};  ///< the replica: `workerpool0-0`, or `service`
  std::string message{};             ///< may have several lines
};

/// The entry in `value`; none when it is no JSON object. What it lacks has the defaults.
std::optional<LogEntry> read_log_entry(const nlohmann::json& value);

/// Which entries of a job are asked for.
struct LogQuery {
  std::string project{};  ///< of the job's own name, id or number
  std::string job_id{};
  std::optional<std::string> task{};  ///< one replica's only; none: all
  Timestamp since{};                  ///< entries of this time and later
};

/// The query in Cloud Logging's language.
std::string log_filter(const LogQuery& query);

/// The entries:list call for a page of it, oldest first. `endpoint_override` is
/// CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING.
Call entries_call(const LogQuery& query,
                  const std::optional<std::string>& page_token,
                  const std::optional<std::string>& endpoint_override);

struct LogPage {
  std::vector<LogEntry> entries{};
  std::optional<std::string> next_page{};  ///< none on the last page
  std::size_t unreadable{0};               ///< entries that are none
};

/// Error(remote) when the answer is no list of entries.
LogPage read_log_page(const Call& call, const http::Response& response);

}  // namespace autopack::google
