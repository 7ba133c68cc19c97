#include "job/rules.hpp"

#include "base/json.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::job {

using nlohmann::json;

namespace {

/// Required fields that a rule with better words looks after.
constexpr std::array told_elsewhere{
    std::string_view{"displayName"},      std::string_view{"jobSpec"},
    std::string_view{"workerPoolSpecs"},  std::string_view{"imageUri"},
    std::string_view{"executorImageUri"}, std::string_view{"pythonModule"},
    std::string_view{"packageUris"},      std::string_view{"metrics"},
    std::string_view{"parameters"},       std::string_view{"metricId"},
    std::string_view{"parameterId"},
};

void check_groups(const json& object,
                  const tables::Message& message,
                  const std::string& path,
                  Findings& findings) {
  for (const auto& group : message.groups) {
    std::vector<std::string> given;
    for (const auto field : group.fields) {
      if (object.contains(field)) {
        given.emplace_back(field);
      }
    }
    // what a pool runs has a rule of its own
    if (given.size() > 1 && message.name != "WorkerPoolSpec") {
      findings.error(fmt::format("{}.{}", path, given[1]),
                     fmt::format("{} has `{}`, which exclude each other", shown_path(path),
                                 fmt::join(given, "` and `")));
    }
  }
}

/// Required fields and fields that exclude each other, in `object` and all that it holds.
void check_shape(const json& object,
                 const tables::Message& message,
                 const std::string& path,
                 Findings& findings) {
  check_groups(object, message, path, findings);
  for (const auto& field : message.fields) {
    const auto child =
        path.empty() ? std::string{field.name} : fmt::format("{}.{}", path, field.name);
    const auto found = object.find(field.name);
    if (found == object.end()) {
      const bool is_told = std::find(told_elsewhere.begin(), told_elsewhere.end(), field.name) !=
                           told_elsewhere.end();
      if (field.required && !is_told && !findings.was_given(child)) {
        findings.error(child, fmt::format("{} is missing", shown_path(child)));
      }
      continue;
    }
    if (field.type != tables::Type::message) {
      continue;
    }
    const auto& inner = tables::message(field.message);
    if (!field.list && !field.keyed) {
      check_shape(*found, inner, child, findings);
      continue;
    }
    std::size_t index = 0;
    for (const auto& [key, item] : found->items()) {
      check_shape(
          item, inner,
          field.list ? fmt::format("{}[{}]", child, index++) : fmt::format("{}.{}", child, key),
          findings);
    }
  }
}

/// A part of the body that only some kinds have.
void check_part(const json& body, const char* key, std::string_view message, Findings& findings) {
  if (const auto part = body.find(key); part != body.end()) {
    check_shape(*part, tables::message(message), key, findings);
  }
}

}  // namespace

std::string Findings::origin(std::string path) const {
  const auto& origins = draft_.origins;
  for (;;) {
    if (const auto found = origins.find(path); found != origins.end()) {
      return found->second;
    }
    const auto end = path.find_last_of(".[");
    if (end == std::string::npos) {
      return {};
    }
    path.resize(end);
  }
}

bool Findings::was_given(const std::string& path) const {
  return draft_.origins.contains(path);
}

std::string Findings::name(const std::string& path, std::string_view key) const {
  return origin(path).starts_with("`--worker-pool-spec`") ? fmt::format("`{}`", key)
                                                          : shown_path(path);
}

void Findings::error(const std::string& path, std::string message, std::vector<std::string> hints) {
  problems_.push_back(
      {.message = std::move(message), .origin = origin(path), .hints = std::move(hints)});
}

void Findings::warning(const std::string& path, std::string message) {
  problems_.push_back({.severity = Problem::Severity::warning,
                       .message = std::move(message),
                       .origin = origin(path)});
}

std::string text_of(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string shown_path(std::string_view path) {
  static constexpr std::string_view prefix = "jobSpec.";
  if (path.starts_with(prefix)) {
    path.remove_prefix(prefix.size());
  }
  return fmt::format("`{}`", path);
}

void check_draft(const Draft& draft,
                 const Location& location,
                 const CheckOptions& options,
                 Problems& problems) {
  Findings findings{draft, options, problems};
  check_shape(*draft.body, tables::message("CustomJob"), "", findings);
  check_part(*draft.body, "studySpec", "StudySpec", findings);
  check_part(*draft.body, "modelToUpload", "Model", findings);
  check_part(*draft.body, "inputDataConfig", "InputDataConfig", findings);
  check_job_fields(*draft.body, location, findings);
  check_pools(*draft.body, findings);
  check_strategy(*draft.body, findings);
  if (is_tuning(draft.kind)) {
    check_study(*draft.body, findings);
  }
  if (is_pipeline(draft.kind)) {
    check_pipeline(*draft.body, location, findings);
  }
}

}  // namespace autopack::job
