#include "base/json.hpp"
#include "base/text.hpp"
#include "kubernetes/objects.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

// Translates the field paths of the API server into the flags of autopack:
// `spec.template.spec.containers[0].env[3].value` is the variable whose name the object has there.

namespace autopack::kubernetes {

namespace {

using nlohmann::json;

constexpr std::size_t most_steps = 40;

/// A key of an object, or the index of a list.
struct Step {
  std::string key{};
  std::optional<std::size_t> index{};
};

std::vector<Step> steps_of(std::string_view field) {
  std::vector<Step> steps;
  std::string key;
  const auto end_key = [&] {
    if (!key.empty()) {
      steps.push_back({.key = std::exchange(key, {})});
    }
  };
  for (std::size_t at = 0; at < field.size() && steps.size() < most_steps; ++at) {
    if (field[at] == '.') {
      end_key();
    } else if (field[at] != '[') {
      key += field[at];
    } else {
      end_key();
      const auto end = std::min(field.find(']', at), field.size());
      const auto inside = field.substr(at + 1, end - at - 1);
      std::size_t number = 0;
      const auto [stop, failure] =
          std::from_chars(inside.data(), inside.data() + inside.size(), number);
      const bool is_index = failure == std::errc{} && stop == inside.data() + inside.size();
      steps.push_back(is_index ? Step{.index = number} : Step{.key = std::string{inside}});
      at = end;
    }
  }
  end_key();
  return steps;
}

struct FieldWords {
  std::string_view key;
  std::string_view words;
};

// The most special first.
constexpr std::array<FieldWords, 22> table{{
    {"nvidia.com/gpu", "the accelerator count"},
    {"google.com/tpu", "the TPU chips of the machine type"},
    {"ephemeral-storage", "the boot disk size"},
    {"image", "the image"},
    {"command", "the command"},
    {"args", "the arguments"},
    {"volumeMounts", "a volume mount of the pod template"},
    {"volumes", "a volume of the pod template"},
    {"imagePullSecrets", "a pull secret of the pod template"},
    {"tolerations", "a toleration of the pod template"},
    {"nodeSelector", "the node selector"},
    {"affinity", "the node affinity"},
    {"securityContext", "the security context of the pod template"},
    {"serviceAccountName", "the service account (`--service-account`)"},
    {"priorityClassName", "the priority class (`--priority-class`)"},
    {"activeDeadlineSeconds", "the timeout"},
    {"replicas", "the replica count"},
    {"numNodes", "the replica count"},
    {"runtimeRef", "the runtime (`--runtime`)"},
    {"resources", "the resources"},
    {"labels", "the labels"},
    {"name", "the name (`--display-name`)"},
}};

/// Returns the element of `value` that a step leads to; null if there is none.
const json* follow(const json* value, const Step& step) {
  if (value == nullptr) {
    return nullptr;
  }
  if (step.index) {
    return value->is_array() && *step.index < value->size() ? &(*value)[*step.index] : nullptr;
  }
  const auto found = value->is_object() ? value->find(step.key) : value->end();
  return found == value->end() ? nullptr : &*found;
}

}  // namespace

std::string words_of_field(const json& object, const std::string& field) {
  std::string pool;
  std::string special;
  const json* at = &object;
  std::string list;
  const FieldWords* known = nullptr;
  for (const auto& step : steps_of(field)) {
    at = follow(at, step);
    if (step.index && at != nullptr && list == "replicatedJobs") {
      pool = text_at(*at, "name");
    } else if (step.index && at != nullptr && list == "env") {
      special = fmt::format("the variable `{}`", printable(text_at(*at, "name")));
    } else if (step.index && at != nullptr && list == "containers" &&
               text_at(*at, "name") != container_name && text_at(*at, "name") != train_container) {
      special =
          fmt::format("the container `{}` of the pod template", printable(text_at(*at, "name")));
    }
    list = step.index ? "" : step.key;
    for (const auto& row : table) {
      if (row.key == step.key && (known == nullptr || &row < known)) {
        known = &row;
      }
    }
  }
  auto words = !special.empty() ? special : known != nullptr ? std::string{known->words} : "";
  if (words.empty()) {
    return fmt::format("`{}`", printable(field));
  }
  return fmt::format("{}{} (`{}`)", words, pool.empty() ? "" : " of " + pool, printable(field));
}

}  // namespace autopack::kubernetes
