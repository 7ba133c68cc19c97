#include "base/contains.hpp"
#include "base/json.hpp"
#include "job/message_json.hpp"
#include "job/rules.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::job {

using nlohmann::json;

namespace {

/// Required fields that another rule checks with a better message.
constexpr std::array checked_elsewhere{
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
                  Review& review) {
  for (const auto& group : message.groups) {
    std::vector<std::string> given;
    for (const auto field : group.fields) {
      if (object.contains(field)) {
        given.emplace_back(field);
      }
    }
    // another rule checks the program of a pool
    if (given.size() > 1 && message.name != "WorkerPoolSpec") {
      review.error(fmt::format("{}.{}", path, given[1]),
                   fmt::format("{} has `{}`, which exclude each other", shown_path(path),
                               fmt::join(given, "` and `")));
    }
  }
}

/// Checks required fields and fields that exclude each other, in `object` and everything in it.
void check_message(const json& object,
                   const tables::Message& message,
                   const std::string& path,
                   Review& review) {
  check_groups(object, message, path, review);
  for (const auto& field : message.fields) {
    const auto child =
        path.empty() ? std::string{field.name} : fmt::format("{}.{}", path, field.name);
    const auto found = object.find(field.name);
    if (found == object.end()) {
      const bool is_checked = contains(checked_elsewhere, field.name);
      if (field.required && !is_checked && !review.was_given(child)) {
        review.error(child, fmt::format("{} is missing", shown_path(child)));
      }
      continue;
    }
    if (field.type != tables::Type::message) {
      continue;
    }
    const auto& inner = tables::message(field.message);
    if (!field.list && !field.keyed) {
      check_message(*found, inner, child, review);
      continue;
    }
    std::size_t index = 0;
    for (const auto& [key, item] : found->items()) {
      check_message(
          item, inner,
          field.list ? fmt::format("{}[{}]", child, index++) : fmt::format("{}.{}", child, key),
          review);
    }
  }
}

}  // namespace

void check_shape(const Job& job, Review& review) {
  struct Part {
    std::string_view key;
    std::string_view message;
  };

  // In addition to the custom job in each kind.
  static constexpr std::array parts{Part{"studySpec", "StudySpec"}, Part{"modelToUpload", "Model"},
                                    Part{"inputDataConfig", "InputDataConfig"}};
  const auto body = write_message(job);
  check_message(body, tables::message("CustomJob"), "", review);
  for (const auto& [key, message] : parts) {
    if (const auto part = body.find(key); part != body.end()) {
      check_message(*part, tables::message(message), std::string{key}, review);
    }
  }
}

}  // namespace autopack::job
