#include "kubernetes/pod_template.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace autopack::kubernetes {

namespace {

using nlohmann::json;

/// The key that identifies the elements of a list in a pod template, by the list's name
/// (`patchMergeKey` of the API).
constexpr std::array<std::pair<std::string_view, const char*>, 15> merge_keys{{
    {"containers", "name"},
    {"initContainers", "name"},
    {"ephemeralContainers", "name"},
    {"env", "name"},
    {"ports", "containerPort"},
    {"volumeMounts", "mountPath"},
    {"volumeDevices", "devicePath"},
    {"volumes", "name"},
    {"imagePullSecrets", "name"},
    {"hostAliases", "ip"},
    {"topologySpreadConstraints", "topologyKey"},
    {"resourceClaims", "name"},
    {"claims", "name"},
    {"schedulingGates", "name"},
    // The API replaces this list; but a user who adds one does not mean to lose the job's own.
    {"tolerations", "key"},
}};

const char* merge_key(std::string_view list) {
  const auto* const found =
      std::ranges::find_if(merge_keys, [&](const auto& row) { return row.first == list; });
  return found == merge_keys.end() ? nullptr : found->second;
}

/// `replaces`: elements with the same key replace each other (`retainKeys` of the API).
void merge_lists(json& base, const json& over, const char* key, bool replaces) {
  for (const auto& element : over) {
    const auto same = std::ranges::find_if(base, [&](const json& one) {
      return one.is_object() && element.is_object() && one.contains(key) && element.contains(key) &&
             one[key] == element[key];
    });
    if (same == base.end()) {
      base.push_back(element);
    } else if (replaces) {
      *same = element;
    } else {
      merge_strategically(*same, element);
    }
  }
}

/// Fields of a pod on which the names of replicas and the end of the job depend.
constexpr std::array own_fields{"restartPolicy", "hostname", "subdomain", "setHostnameAsFQDN",
                                "activeDeadlineSeconds"};

bool holds_directive(const json& value, std::size_t depth = 0) {
  if (!value.is_structured() || depth > 100) {
    return false;
  }
  if (value.is_object() && std::ranges::any_of(value.items(), [](const auto& item) {
        return item.key().starts_with("$");
      })) {
    return true;
  }
  return std::ranges::any_of(
      value, [&](const json& element) { return holds_directive(element, depth + 1); });
}

}  // namespace

void merge_strategically(json& base, const json& over) {
  for (const auto& [name, value] : over.items()) {
    const auto mine = base.find(name);
    const auto* key = merge_key(name);
    if (value.is_null()) {
      base.erase(name);
    } else if (mine == base.end()) {
      base[name] = value;
    } else if (mine->is_object() && value.is_object()) {
      merge_strategically(*mine, value);
    } else if (mine->is_array() && value.is_array() && key != nullptr) {
      // A volume with two sources would be none.
      merge_lists(*mine, value, key, name == "volumes");
    } else {
      *mine = value;
    }
  }
}

std::shared_ptr<const json> read_pod_template(const json& fragment, const std::string& origin) {
  const auto wrong = [&](const std::string& what) {
    return Error(ErrorKind::usage, fmt::format("{}: {}", origin, what));
  };
  if (!fragment.is_object()) {
    throw wrong("it is not a mapping with fields of a pod");
  }
  const bool is_template = fragment.contains("spec") || fragment.contains("metadata") ||
                           fragment.contains("kind") || fragment.contains("apiVersion");
  auto whole = is_template ? fragment : json{{"spec", fragment}};
  whole.erase("kind");
  whole.erase("apiVersion");
  for (const auto& [name, value] : whole.items()) {
    if ((name != "spec" && name != "metadata") || !value.is_object()) {
      throw wrong(
          fmt::format("`{}` is not a part of a pod template: it has the mappings "
                      "`metadata` and `spec`",
                      printable(name)));
    }
  }
  if (whole.contains("metadata")) {
    for (const auto& [name, value] : whole["metadata"].items()) {
      if (name != "labels" && name != "annotations") {
        throw wrong(fmt::format("`metadata.{}` has no effect: only labels and annotations have",
                                printable(name)));
      }
    }
  }
  if (holds_directive(whole)) {
    throw wrong("it has a key that begins with `$`, and autopack does not support directives");
  }
  for (const auto* name : own_fields) {
    if (whole.contains("spec") && whole["spec"].contains(name)) {
      throw wrong(fmt::format("autopack sets `{}` itself", name));
    }
  }
  return std::make_shared<const json>(std::move(whole));
}

}  // namespace autopack::kubernetes
