#include "image/rebased.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "image/manifest.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace autopack::image {

namespace {

using nlohmann::json;

/// What an image of autopack always sets itself, even if its base has the same.
constexpr std::array<const char*, 3> always_own{"Entrypoint", "Cmd", "WorkingDir"};

/// The same among the variables.
constexpr std::array<std::string_view, 3> own_variables{"HOME=/home", "PYTHONUNBUFFERED=1",
                                                        "PYTHONDONTWRITEBYTECODE=1"};

struct Documents {
  json image{};
  json before{};
  json after{};
};

json read_document(const std::string& text, const char* what) {
  return parse_json(Configuration::parse(text, what).to_json());
}

Documents read_documents(const RebasedParts& parts) {
  return {.image = read_document(parts.image, "the configuration of the image"),
          .before = read_document(parts.before, "the configuration of its base"),
          .after = read_document(parts.after, "the configuration of the new base")};
}

/// Returns a list of `document`; an empty one if it has none.
json list_at(const json& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_array() ? *found : json::array();
}

/// Returns the elements of `whole` after those of `start`, or nothing if it does not begin with
/// them.
std::optional<json> rest_of(const json& whole, const json& start) {
  if (whole.size() < start.size() || !std::equal(start.begin(), start.end(), whole.begin())) {
    return std::nullopt;
  }
  auto rest = json::array();
  for (std::size_t i = start.size(); i < whole.size(); ++i) {
    rest.push_back(whole[i]);
  }
  return rest;
}

json diff_ids_of(const json& document) {
  return list_at(document.at("rootfs"), "diff_ids");
}

std::optional<json> own_history(const Documents& documents) {
  return rest_of(list_at(documents.image, "history"), list_at(documents.before, "history"));
}

/// Returns the value at `key`, or null.
json value_at(const json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() ? json() : *found;
}

std::string_view name_of(const std::string& variable) {
  return std::string_view{variable}.substr(0, variable.find('='));
}

/// Returns the variables of the new base, changed and added to as the image did with its own
/// base's.
std::vector<std::string> rebased_environment(const std::vector<std::string>& image,
                                             const std::vector<std::string>& before,
                                             std::vector<std::string> after) {
  for (const auto& variable : image) {
    const bool is_own = std::ranges::find(own_variables, variable) != own_variables.end();
    if (!is_own && std::ranges::find(before, variable) != before.end()) {
      continue;
    }
    const auto there = std::ranges::find_if(
        after, [&](const auto& other) { return name_of(other) == name_of(variable); });
    if (there == after.end()) {
      after.push_back(variable);
    } else {
      *there = variable;
    }
  }
  return after;
}

json rebased_labels(const json& image, const json& before, json after) {
  for (const auto& [name, value] : image.items()) {
    if (value_at(before, name) != value) {
      after[name] = value;
    }
  }
  return after;
}

json object_at(const json& object, const char* key) {
  const auto value = value_at(object, key);
  return value.is_object() ? value : json::object();
}

/// Returns the settings of the new base with the image's own.
json rebased_settings(const Documents& documents, const std::vector<std::string>& variables) {
  const auto& image = documents.image.at("config");
  const auto& before = documents.before.at("config");
  auto settings = documents.after.at("config");
  for (const auto* key : always_own) {
    settings.erase(key);
  }
  for (const auto& [key, value] : image.items()) {
    const bool is_own = std::ranges::find(always_own, std::string_view{key}) != always_own.end() ||
                        value_at(before, key) != value;
    if (is_own && key != "Env" && key != "Labels") {
      settings[key] = value;
    }
  }
  settings["Env"] = variables;
  settings["Labels"] = rebased_labels(object_at(image, "Labels"), object_at(before, "Labels"),
                                      object_at(settings, "Labels"));
  return settings;
}

Error not_on_its_base() {
  return {ErrorKind::remote, "the image does not continue its base"};
}

}  // namespace

std::optional<std::vector<OwnStep>> own_steps(const RebasedParts& parts) {
  const auto history = own_history(read_documents(parts));
  if (!history) {
    return std::nullopt;
  }
  std::vector<OwnStep> steps;
  for (const auto& step : *history) {
    const auto empty = value_at(step.is_object() ? step : json::object(), "empty_layer");
    steps.push_back({.created_by = text_at(step, "created_by"),
                     .has_layer = empty != true,
                     .is_ours = text_at(step, "comment") == "autopack"});
  }
  return steps;
}

std::string rebased_configuration(const RebasedParts& parts,
                                  const std::map<std::string, std::string>& labels) {
  const auto documents = read_documents(parts);
  const auto history = own_history(documents);
  const auto layers = rest_of(diff_ids_of(documents.image), diff_ids_of(documents.before));
  if (!history || !layers) {
    throw not_on_its_base();
  }
  const auto variables = [](const std::string& text) {
    return Configuration::parse(text, "an image").environment();
  };
  auto result = documents.after;
  result["config"] = rebased_settings(
      documents,
      rebased_environment(variables(parts.image), variables(parts.before), variables(parts.after)));
  for (const auto& [name, value] : labels) {
    if (value.empty()) {
      result["config"]["Labels"].erase(name);
    } else {
      result["config"]["Labels"][name] = value;
    }
  }
  auto whole_history = list_at(documents.after, "history");
  whole_history.insert(whole_history.end(), history->begin(), history->end());
  result["history"] = std::move(whole_history);
  auto all_layers = diff_ids_of(documents.after);
  all_layers.insert(all_layers.end(), layers->begin(), layers->end());
  result["rootfs"]["diff_ids"] = std::move(all_layers);
  if (documents.image.contains("created")) {
    result["created"] = documents.image.at("created");
  } else {
    result.erase("created");
  }
  return result.dump();
}

}  // namespace autopack::image
