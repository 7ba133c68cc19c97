#include "cli/log_text.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/steps.hpp"

#include <fmt/format.h>

namespace autopack::cli {

namespace {

/// Keeps `\n` between lines of a text, and removes everything else that disturbs a terminal.
std::string harmless(const std::string& message) {
  auto text = harmless_lines(message);
  text.pop_back();
  return text;
}

}  // namespace

std::string LogText::render(const google::LogEntry& entry) {
  const auto time = entry.time ? entry.time->readable() : "-";
  if (format_.kind != OutputFormat::Kind::text) {
    const nlohmann::json object{{"severity", entry.severity},
                                {"timestamp", entry.time ? entry.time->text() : ""},
                                {"task_name", entry.task},
                                {"message", entry.message}};
    return format_.kind == OutputFormat::Kind::json ? print_json(object) + "\n"
                                                    : cli::render(format_, object, {});
  }
  const auto head = fmt::format("{}\t{}\t{}\t", painted_severity(printable(entry.severity)), time,
                                painted_task(printable(entry.task)));
  const auto message = harmless(entry.message);
  if (together_) {
    return head + message + "\n";
  }
  std::string text;
  for (const auto& line : split(message, '\n')) {
    text += head + line + "\n";
  }
  return text;
}

std::string LogText::painted_task(const std::string& task) {
  const auto number = replicas_.try_emplace(task, replicas_.size()).first->second;
  return paint_.one_of_many(number, task);
}

std::string LogText::painted_severity(const std::string& severity) const {
  if (severity == "DEFAULT" || severity == "DEBUG") {
    return paint_.dim(severity);
  }
  if (severity == "INFO" || severity == "NOTICE") {
    return severity;
  }
  return severity == "WARNING" ? paint_.yellow(severity) : paint_.red(severity);
}

}  // namespace autopack::cli
