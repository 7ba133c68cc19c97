#include "google/job_name.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::google {

std::string_view collection_of(JobKind kind) {
  switch (kind) {
    case JobKind::custom: return "customJobs";
    case JobKind::tuning: return "hyperparameterTuningJobs";
    case JobKind::pipeline: break;
  }
  return "trainingPipelines";
}

std::optional<JobKind> kind_of(std::string_view collection) {
  for (const auto kind : job_kinds) {
    if (collection == collection_of(kind)) {
      return kind;
    }
  }
  return std::nullopt;
}

std::string_view words_of(JobKind kind) {
  switch (kind) {
    case JobKind::custom: return "custom job";
    case JobKind::tuning: return "tuning job";
    case JobKind::pipeline: break;
  }
  return "training pipeline";
}

bool is_name_part(std::string_view text) {
  const bool has_word = std::ranges::any_of(text, [](char c) { return c != '.'; });
  return has_word && text.size() <= 200 && is_alphanumeric(text, "-_.:");
}

std::optional<JobName> JobName::parse(std::string_view text) {
  const auto parts = split(text, '/');
  if (parts.size() != 6 || parts[0] != "projects" || parts[2] != "locations" ||
      !std::ranges::all_of(parts, is_name_part)) {
    return std::nullopt;
  }
  const auto kind = kind_of(parts[4]);
  return kind ? std::optional{JobName{
                    .project = parts[1], .region = parts[3], .kind = *kind, .id = parts[5]}}
              : std::nullopt;
}

std::string JobName::parent() const {
  return fmt::format("projects/{}/locations/{}", project, region);
}

std::string JobName::text() const {
  return fmt::format("{}/{}/{}", parent(), collection_of(kind), id);
}

std::string JobName::console_address() const {
  return fmt::format(
      "https://console.cloud.google.com/ai/platform/locations/{}/training/{}?project={}", region,
      id, project);
}

}  // namespace autopack::google
