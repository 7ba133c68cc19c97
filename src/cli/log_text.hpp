#pragma once

#include "cli/error_text.hpp"
#include "cli/output_format.hpp"
#include "google/logging.hpp"

#include <map>
#include <string>

namespace autopack::cli {

/// Formats log entries as gcloud does: severity, time, replica and text, separated by tabs, with a
/// line for each line of the text. Colours replicas and severities if colour is on.
class LogText {
public:
  LogText(OutputFormat format, Paint paint, bool keep_lines_together)
      : format_{std::move(format)}, paint_{paint}, together_{keep_lines_together} {}

  /// Returns the lines of one entry.
  std::string render(const google::LogEntry& entry);

private:
  std::string painted_task(const std::string& task);
  std::string painted_severity(const std::string& severity) const;

  OutputFormat format_;
  Paint paint_;
  bool together_;
  std::map<std::string, std::size_t> replicas_{};  ///< in order of appearance
};

}  // namespace autopack::cli
