#include "cli/job_text.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/text_table.hpp"
#include "google/job_name.hpp"
#include "google/timestamp.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::cli {

using nlohmann::json;

namespace {

std::string shown(const json& job, const char* key) {
  return printable(text_at(job, key));
}

std::vector<std::string> row(const json& job) {
  const auto name = shown(job, "name");
  const auto parsed = google::JobName::parse(name);
  const auto created = google::Timestamp::parse(shown(job, "createTime"));
  const auto* const other = name.starts_with("local/") ? "local job" : "";
  return {parsed ? parsed->id : name, parsed ? std::string{google::words_of(parsed->kind)} : other,
          submit::state_of(job).word, created ? created->readable().substr(0, 19) : "",
          shown(job, "displayName")};
}

/// Returns a word unchanged, or quoted if YAML would read something else.
std::string scalar(const json& value) {
  if (!value.is_string()) {
    return print_json(value);
  }
  const auto text = value.get<std::string>();
  const bool plain = !text.empty() && printable(text) == text &&
                     text.find_first_of(" \t:#'\"{}[],&*!|>%@`") == std::string::npos;
  return plain ? text : print_json(value);
}

void write(const json& value, std::size_t indentation, std::string& into);

void write_field(const std::string& head,
                 const json& value,
                 std::size_t indentation,
                 std::string& into) {
  into += std::string(indentation, ' ') + head;
  if ((value.is_object() || value.is_array()) && !value.empty()) {
    into += "\n";
    write(value, indentation + 2, into);
  } else {
    into += " " + scalar(value) + "\n";
  }
}

void write(const json& value, std::size_t indentation, std::string& into) {
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      write_field(printable(key) + ":", item, indentation, into);
    }
    return;
  }
  for (const auto& item : value) {
    write_field("-", item, indentation, into);
  }
}

}  // namespace

std::string job_table(const std::vector<json>& jobs) {
  if (jobs.empty()) {
    return {};
  }
  std::vector<std::vector<std::string>> rows{{"ID", "KIND", "STATE", "CREATED", "NAME"}};
  std::ranges::transform(jobs, std::back_inserter(rows), row);
  return text_table(rows);
}

std::string job_details(const json& job) {
  std::string text;
  write(job, 0, text);
  return text;
}

}  // namespace autopack::cli
