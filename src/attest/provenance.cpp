#include "attest/provenance.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace autopack::attest {

using nlohmann::json;
using packaging::Settings;

namespace {

/// Increase the number if the meaning of the parameters changes.
constexpr auto* build_type = "urn:autopack:build:v1";
constexpr auto* builder_id = "urn:autopack:cli";
constexpr auto* role_annotation = "autopack.role";
constexpr auto* dirty_annotation = "autopack.dirty";

constexpr std::array<std::pair<Input::Role, const char*>, 4> roles{{
    {Input::Role::executor_image, "executor image"},
    {Input::Role::source, "source"},
    {Input::Role::wheel, "wheel"},
    {Input::Role::resolution, "resolution"},
}};

/// Sets `object[key]` unless `value` is absent.
template <class T>
void set_given(json& object, const char* key, const std::optional<T>& value) {
  if (value) {
    object[key] = *value;
  }
}

/// Returns a copy without the logins and the query values of URLs in it.
std::string without_login(const std::string& text) {
  auto words = split(redact_credentials(text), ' ');
  for (auto& word : words) {
    if (word.find("://") != std::string::npos && word.find('?') != std::string::npos) {
      word = redact_url(word);
    }
  }
  return join(words, " ");
}

std::vector<std::string> without_login(std::vector<std::string> texts) {
  std::ranges::transform(texts, texts.begin(),
                         [](const std::string& text) { return without_login(text); });
  return texts;
}

json settings_json(const Settings& settings) {
  json written = json::object();
  for (const auto& setting : packaging::settings) {
    std::visit(
        [&](const auto where) {
          if (const auto& value = settings.*where) {
            written[std::string{setting.key}] = without_login(*value);
          }
        },
        setting.member);
  }
  return written;
}

json input_json(const Input& input) {
  const auto* const role =
      std::ranges::find(roles, input.role, [](const auto& one) { return one.first; })->second;
  json written{{"name", input.name}, {"annotations", {{role_annotation, role}}}};
  if (!input.uri.empty()) {
    written["uri"] = input.uri;
  }
  if (!input.digest.empty()) {
    written["digest"] = input.digest;
  }
  if (input.content) {
    written["content"] = base64_encode(*input.content);
  }
  return written;
}

bool is_true(const json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key] == json(true);
}

/// Reads a predicate; everything that is missing or has another type is a fault.
class Reading {
public:
  explicit Reading(const std::string& what) : what_{what} {}

  Error fault(const std::string& why) const {
    return Error(ErrorKind::remote, fmt::format("{} cannot be used", what_)).cause(why);
  }

  const json& at(const json& object, const char* key) const {
    if (!object.is_object() || !object.contains(key)) {
      throw fault(fmt::format("it has no `{}`", key));
    }
    return object[key];
  }

  std::string text(const json& object, const char* key) const {
    const auto& value = at(object, key);
    if (!value.is_string()) {
      throw fault(fmt::format("its `{}` is not a text", key));
    }
    return value.get<std::string>();
  }

  std::optional<std::string> given_text(const json& object, const char* key) const {
    return object.is_object() && object.contains(key) ? std::optional{text(object, key)}
                                                      : std::nullopt;
  }

  Input input(const json& object) const {
    Input input{.name = text_at(object, "name"), .uri = text_at(object, "uri")};
    const auto role = text(at(object, "annotations"), role_annotation);
    const auto* const known =
        std::ranges::find_if(roles, [&](const auto& one) { return role == one.second; });
    if (known == roles.end()) {
      throw fault(fmt::format("its input `{}` is of an unknown kind", printable(input.name)));
    }
    input.role = known->first;
    if (object.contains("digest") && object["digest"].is_object()) {
      for (const auto& [algorithm, value] : object["digest"].items()) {
        if (value.is_string()) {
          input.digest.emplace(algorithm, value.get<std::string>());
        }
      }
    }
    if (const auto content = given_text(object, "content")) {
      input.content = base64_decode(*content);
      if (!input.content) {
        throw fault(fmt::format("the content of `{}` is not base64", printable(input.name)));
      }
    }
    return input;
  }

  void read(const json& value, const std::string& key, Settings::Text& text) const {
    if (!value.is_string()) {
      throw fault(fmt::format("its setting `{}` is not a text", key));
    }
    text = value.get<std::string>();
  }

  void read(const json& value, const std::string& key, Settings::List& list) const {
    const bool good = value.is_array() &&
                      std::ranges::all_of(value, [](const json& one) { return one.is_string(); });
    if (!good) {
      throw fault(fmt::format("its setting `{}` is not a list of texts", key));
    }
    list = value.get<std::vector<std::string>>();
  }

private:
  const std::string& what_;
};

Settings settings_in(const json& object, const Reading& reading) {
  Settings settings;
  for (const auto& setting : packaging::settings) {
    const std::string key{setting.key};
    if (object.contains(key)) {
      std::visit([&](const auto where) { reading.read(object[key], key, settings.*where); },
                 setting.member);
    }
  }
  return settings;
}

json external_parameters(const Provenance& provenance) {
  json parameters{{"settings", settings_json(provenance.settings)},
                  {"platform", provenance.platform},
                  {"engine", provenance.engine},
                  {"resolver", provenance.resolver},
                  {"compile-bytecode", provenance.compiles_bytecode},
                  {"label-git", provenance.labels_git},
                  {"source", provenance.source.kind},
                  {"directory", provenance.source.directory}};
  set_given(parameters, "dockerfile", provenance.dockerfile);
  set_given(parameters, "templates", provenance.templates);
  set_given(parameters, "SOURCE_DATE_EPOCH", provenance.source_date_epoch);
  return parameters;
}

json source_json(const Source& source) {
  auto written = input_json({.role = Input::Role::source,
                             .name = "project",
                             .uri = source.repository ? "git+" + *source.repository : "",
                             .digest = {{"gitCommit", *source.commit}}});
  if (source.is_dirty) {
    written["annotations"][dirty_annotation] = "true";
  }
  return written;
}

Source source_of(const json& parameters, const json& inputs, const Reading& reading) {
  Source source{.kind = reading.text(parameters, "source"),
                .directory = reading.text(parameters, "directory")};
  for (const auto& one : inputs) {
    const auto input = reading.input(one);
    if (input.role == Input::Role::source) {
      const auto commit = input.digest.find("gitCommit");
      source.commit = commit == input.digest.end() ? std::nullopt : std::optional{commit->second};
      source.repository =
          input.uri.starts_with("git+") ? std::optional{input.uri.substr(4)} : std::nullopt;
      source.is_dirty = text_at(one["annotations"], dirty_annotation) == "true";
    }
  }
  return source;
}

}  // namespace

const Input* Provenance::input(Input::Role role) const {
  const auto found = std::ranges::find(inputs, role, &Input::role);
  return found == inputs.end() ? nullptr : &*found;
}

json to_json(const Provenance& provenance) {
  json inputs = json::array();
  if (provenance.source.commit) {
    inputs.push_back(source_json(provenance.source));
  }
  for (const auto& input : provenance.inputs) {
    inputs.push_back(input_json(input));
  }
  json metadata = json::object();
  if (provenance.finished) {
    metadata["finishedOn"] = *provenance.finished;
  }
  return {{"buildDefinition",
           {{"buildType", build_type},
            {"externalParameters", external_parameters(provenance)},
            {"internalParameters",
             {{"key", provenance.key}, {"dependency-key", provenance.dependency_key}}},
            {"resolvedDependencies", std::move(inputs)}}},
          {"runDetails",
           {{"builder", {{"id", builder_id}, {"version", {{"autopack", provenance.version}}}}},
            {"metadata", std::move(metadata)}}}};
}

Provenance provenance_of(const Statement& statement, const std::string& what) {
  const Reading reading{what};
  if (statement.predicate_type != predicate_type::provenance) {
    throw reading.fault("it is not SLSA provenance 1.0");
  }
  const auto predicate = parse_json(statement.predicate);
  const auto& definition = reading.at(predicate, "buildDefinition");
  if (const auto type = text_at(definition, "buildType"); type != build_type) {
    throw reading.fault(
        fmt::format("autopack did not write it, or another version: its "
                    "`buildType` is `{}`",
                    printable(type)));
  }
  const auto& external = reading.at(definition, "externalParameters");
  const auto& internal = reading.at(definition, "internalParameters");
  const auto& inputs = reading.at(definition, "resolvedDependencies");
  const auto& run = reading.at(predicate, "runDetails");
  if (!inputs.is_array()) {
    throw reading.fault("its `resolvedDependencies` are not a list");
  }
  Provenance provenance{
      .settings = settings_in(reading.at(external, "settings"), reading),
      .platform = reading.text(external, "platform"),
      .engine = reading.text(external, "engine"),
      .resolver = reading.text(external, "resolver"),
      .compiles_bytecode = is_true(external, "compile-bytecode"),
      .labels_git = is_true(external, "label-git"),
      .dockerfile = reading.given_text(external, "dockerfile"),
      .templates = reading.given_text(external, "templates"),
      .source_date_epoch = reading.given_text(external, "SOURCE_DATE_EPOCH"),
      .source = source_of(external, inputs, reading),
      .key = reading.text(internal, "key"),
      .dependency_key = reading.text(internal, "dependency-key"),
      .version = reading.text(reading.at(reading.at(run, "builder"), "version"), "autopack")};
  if (run.contains("metadata")) {
    provenance.finished = reading.given_text(run["metadata"], "finishedOn");
  }
  for (const auto& one : inputs) {
    if (auto input = reading.input(one); input.role != Input::Role::source) {
      provenance.inputs.push_back(std::move(input));
    }
  }
  return provenance;
}

}  // namespace autopack::attest
