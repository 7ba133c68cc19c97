#include "cli/output_format.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::cli {

namespace {

const nlohmann::json* look_up(const nlohmann::json& object, const std::string& key) {
  const nlohmann::json* at = &object;
  for (const auto& part : split(key, '.')) {
    if (!at->is_object() || !at->contains(part)) {
      return nullptr;
    }
    at = &at->at(part);
  }
  return at;
}

constexpr std::array prefixes{"", "job.", "image."};

/// Fields of a job that are absent at its start, or in some jobs.
constexpr std::array<std::string_view, 11> fields_to_come{"error",
                                                          "startTime",
                                                          "endTime",
                                                          "updateTime",
                                                          "labels",
                                                          "webAccessUris",
                                                          "trials",
                                                          "encryptionSpec",
                                                          "modelToUpload",
                                                          "modelId",
                                                          "trainingTaskMetadata"};

std::string value_text(const nlohmann::json& result, const std::string& key) {
  for (const auto* prefix : prefixes) {
    const auto* found = look_up(result, prefix + key);
    if (found != nullptr && !found->is_null()) {
      return found->is_string() ? found->get<std::string>() : found->dump();
    }
  }
  return {};
}

bool has_key(const nlohmann::json& result, const std::string& key) {
  const auto first = key.substr(0, key.find('.'));
  return contains(fields_to_come, first) || std::ranges::any_of(prefixes, [&](const char* prefix) {
           return look_up(result, prefix + key) != nullptr;
         });
}

/// Returns the keys of `result`, and those of its job and image.
std::vector<std::string> keys_of(const nlohmann::json& result) {
  std::vector<std::string> keys;
  for (const auto* part : {"", "job", "image"}) {
    const auto* object = *part == '\0' ? &result : look_up(result, part);
    if (object != nullptr && object->is_object()) {
      for (const auto& [key, value] : object->items()) {
        keys.push_back(key);
      }
    }
  }
  return keys;
}

}  // namespace

OutputFormat OutputFormat::parse(const std::optional<std::string>& typed) {
  if (!typed || *typed == "text") {
    return {};
  }
  const auto& text = *typed;
  if (text == "json") {
    return {.kind = Kind::json};
  }
  if (text.starts_with("value(") && text.ends_with(")") && text.size() > 7) {
    OutputFormat format{.kind = Kind::value};
    for (const auto& key : split(text.substr(6, text.size() - 7), ',')) {
      format.keys.emplace_back(trim(key));
    }
    return format;
  }
  Error error(ErrorKind::usage, fmt::format("`{}` is not a value of `--format`", printable(text)));
  static const std::vector<std::string> words{"json", "text"};
  if (const auto near = nearest(text, words)) {
    error.hint(fmt::format("did you mean `{}`?", *near));
  }
  throw error.hint("the values are `json` and `value(KEY)`, for example `--format='value(name)'`");
}

Problems absent_keys(const OutputFormat& format, const nlohmann::json& result) {
  Problems problems;
  for (const auto& key : format.keys) {
    if (has_key(result, key)) {
      continue;
    }
    const auto keys = keys_of(result);
    Problem problem{.severity = Problem::Severity::warning,
                    .message = fmt::format("the result has no `{}`", printable(key)),
                    .origin = "`--format`"};
    if (const auto near = nearest(key, keys)) {
      problem.hints.push_back(fmt::format("did you mean `{}`?", *near));
    } else {
      problem.hints.push_back(fmt::format("it has `{}`", join(keys, "`, `")));
    }
    problems.push_back(std::move(problem));
  }
  return problems;
}

std::string render(const OutputFormat& format,
                   const nlohmann::json& result,
                   const std::string& text) {
  switch (format.kind) {
    case OutputFormat::Kind::json: return print_json(result, 2) + "\n";
    case OutputFormat::Kind::value: {
      std::vector<std::string> values;
      for (const auto& key : format.keys) {
        values.push_back(value_text(result, key));
      }
      return join(values, "\t") + "\n";
    }
    case OutputFormat::Kind::text: break;
  }
  return text.empty() || text.ends_with('\n') ? text : text + "\n";
}

}  // namespace autopack::cli
