#pragma once

#include "google/service.hpp"
#include "google/timestamp.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace autopack::google {

/// An entry of Cloud Logging: the fields that jobs write.
struct LogEntry {
  std::optional<Timestamp> time{};  ///< absent if missing or invalid
  std::string insert_id{};          ///< unique among entries of one time
  std::string severity{"DEFAULT"};
  std::string task{"unknown_task"};  ///< the replica: `workerpool0-0`, or `service`
  std::string message{};             ///< may have several lines
};

/// Returns the entry in `value`, or nothing if it is not a JSON object. Missing fields have the
/// defaults.
std::optional<LogEntry> read_log_entry(const nlohmann::json& value);

/// Selects entries of a job.
struct LogQuery {
  std::string project{};  ///< from the job's name, id or number
  std::string job_id{};
  std::optional<std::string> task{};  ///< only this replica's; absent: all
  Timestamp since{};                  ///< entries at this time or later
};

/// Returns the query in Cloud Logging's language.
std::string log_filter(const LogQuery& query);

/// Returns the entries:list call for one page, oldest first. `endpoint_override` is
/// CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING.
Call entries_call(const LogQuery& query,
                  const std::optional<std::string>& page_token,
                  const std::optional<std::string>& endpoint_override);

struct LogPage {
  std::vector<LogEntry> entries{};
  std::optional<std::string> next_page{};  ///< absent on the last page
  std::size_t unreadable{0};               ///< number of entries that could not be read
};

/// Throws Error(remote) if the response is not a list of entries.
LogPage read_log_page(const Call& call, const http::Response& response);

}  // namespace autopack::google
