#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/timestamp.hpp"
#include "image/manifest.hpp"

#include <fmt/format.h>

#include <ctime>

namespace autopack::image {

using nlohmann::json;

namespace {

/// Returns `object[key]` as a T, or the default if it is absent or null (Go writes null for empty
/// lists).
template <class T>
T value_or_empty(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? T{} : found->get<T>();
}

/// Checks the values that are modified later without another check.
void check_types(const json& document, const std::string& what) {
  const auto check = [&](const json& object, const char* key, json::value_t type) {
    const auto found = object.find(key);
    if (found != object.end() && !found->is_null() && found->type() != type) {
      throw Error(ErrorKind::remote, fmt::format("{} cannot be read", what))
          .cause(fmt::format("its `{}` has the wrong type: {}", key, found->type_name()));
    }
  };
  check(document, "config", json::value_t::object);
  check(document, "rootfs", json::value_t::object);
  check(document, "history", json::value_t::array);
  check(document, "created", json::value_t::string);
  if (document["rootfs"].is_null()) {
    throw Error(ErrorKind::remote, fmt::format("{} names no layers", what));
  }
}

}  // namespace

Configuration::Configuration(json document)
    : document_{std::make_unique<json>(std::move(document))} {}

Configuration::Configuration(const Configuration& other)
    : document_{std::make_unique<json>(*other.document_)} {}

Configuration& Configuration::operator=(const Configuration& other) {
  document_ = std::make_unique<json>(*other.document_);
  return *this;
}

Configuration::Configuration(Configuration&&) noexcept = default;
Configuration& Configuration::operator=(Configuration&&) noexcept = default;
Configuration::~Configuration() = default;

Configuration Configuration::parse(std::string_view text, const std::string& what) {
  json document = parse_json(text);
  if (!document.is_object() || !document.contains("rootfs")) {
    throw Error(ErrorKind::remote, fmt::format("{} is not an image configuration", what));
  }
  if (!document.contains("config") || document["config"].is_null()) {
    document["config"] = json::object();
  }
  if (document.contains("created") && document["created"].is_null()) {
    document.erase("created");
  }
  check_types(document, what);
  Configuration result{std::move(document)};
  try {
    // Read them once here, so that later reads cannot fail.
    result.environment();
    result.entrypoint();
    result.labels();
    result.diff_ids();
    result.platform();
    result.user();
  } catch (const json::exception& error) {
    throw Error(ErrorKind::remote, fmt::format("{} cannot be read", what)).cause(error.what());
  }
  return result;
}

std::string Configuration::platform() const {
  std::string text = document_->value("os", "linux") + "/" + document_->value("architecture", "");
  const auto variant = document_->value("variant", "");
  return variant.empty() ? text : text + "/" + variant;
}

std::string Configuration::user() const {
  return value_or_empty<std::string>(document_->at("config"), "User");
}

std::vector<std::string> Configuration::entrypoint() const {
  return value_or_empty<std::vector<std::string>>(document_->at("config"), "Entrypoint");
}

std::vector<std::string> Configuration::command() const {
  try {
    return value_or_empty<std::vector<std::string>>(document_->at("config"), "Cmd");
  } catch (const json::exception& error) {
    throw Error(ErrorKind::remote, "`Cmd` of the image cannot be read").cause(error.what());
  }
}

std::string Configuration::working_directory() const {
  try {
    auto directory = "/" + value_or_empty<std::string>(document_->at("config"), "WorkingDir");
    directory.erase(0, directory.starts_with("//") ? 1 : 0);
    while (directory.size() > 1 && directory.ends_with('/')) {
      directory.pop_back();
    }
    return directory;
  } catch (const json::exception& error) {
    throw Error(ErrorKind::remote, "`WorkingDir` of the image cannot be read").cause(error.what());
  }
}

std::vector<std::string> Configuration::environment() const {
  return value_or_empty<std::vector<std::string>>(document_->at("config"), "Env");
}

std::map<std::string, std::string> Configuration::labels() const {
  return value_or_empty<std::map<std::string, std::string>>(document_->at("config"), "Labels");
}

std::vector<Digest> Configuration::diff_ids() const {
  std::vector<Digest> digests;
  for (const auto& text :
       value_or_empty<std::vector<std::string>>(document_->at("rootfs"), "diff_ids")) {
    if (const auto digest = Digest::parse(text)) {
      digests.push_back(*digest);
    } else {
      throw Error(ErrorKind::remote, fmt::format("`{}` is not a sha256 digest", printable(text)));
    }
  }
  return digests;
}

bool is_run_step(std::string_view created_by) {
  const bool has_shell = created_by.find("/bin/sh -c ") != std::string_view::npos;
  return created_by.starts_with("RUN ") ||
         (has_shell && created_by.find("#(nop)") == std::string_view::npos);
}

bool dates_an_installation(std::string_view created_by) {
  return is_run_step(created_by) || created_by == chosen_versions_step;
}

namespace {

/// Returns the seconds since 1970 of a time in RFC 3339 format, without its fraction.
std::optional<std::int64_t> seconds_of(const std::string& text) {
  std::tm date{};
  return ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &date) == nullptr
             ? std::nullopt
             : std::optional{std::int64_t{::timegm(&date)}};
}

/// Returns the history; empty if there is none.
json history_of(const json& document) {
  const auto history = document.find("history");
  return history != document.end() && history->is_array() ? *history : json::array();
}

}  // namespace

std::vector<std::string> Configuration::layer_steps() const {
  std::vector<std::string> steps;
  for (const json& step : history_of(*document_)) {
    const bool is_empty =
        step.is_object() && step.contains("empty_layer") && step.at("empty_layer") == true;
    if (!is_empty) {
      steps.push_back(text_at(step, "created_by"));
    }
  }
  return steps;
}

std::optional<std::int64_t> Configuration::created() const {
  return seconds_of(text_at(*document_, "created"));
}

std::vector<std::int64_t> Configuration::run_times() const {
  std::vector<std::int64_t> times;
  for (const json& step : history_of(*document_)) {
    if (const auto time = seconds_of(text_at(step, "created"));
        time && dates_an_installation(text_at(step, "created_by"))) {
      times.push_back(*time);
    }
  }
  return times;
}

void Configuration::set_user(const std::string& user) {
  (*document_)["config"]["User"] = user;
}

void Configuration::set_working_directory(const std::string& directory) {
  (*document_)["config"]["WorkingDir"] = directory;
}

void Configuration::set_entrypoint(const std::vector<std::string>& words) {
  (*document_)["config"]["Entrypoint"] = words;
  (*document_)["config"].erase("Cmd");
}

void Configuration::set_environment(const std::string& name, const std::string& value) {
  auto variables = environment();
  const std::string text = name + "=" + value;
  const auto found = std::ranges::find_if(
      variables, [&](const auto& variable) { return variable.starts_with(name + "="); });
  if (found == variables.end()) {
    variables.push_back(text);
  } else {
    *found = text;
  }
  (*document_)["config"]["Env"] = variables;
}

void Configuration::set_label(const std::string& name, const std::string& value) {
  auto all = labels();
  all[name] = value;
  (*document_)["config"]["Labels"] = all;
}

void Configuration::set_created(std::int64_t seconds) {
  (*document_)["created"] = in_rfc3339(seconds);
}

void Configuration::add_layer(const LayerFacts& layer, const std::string& created_by) {
  (*document_)["rootfs"]["diff_ids"].push_back(layer.diff_id.str());
  (*document_)["history"].push_back(
      {{"created", document_->value("created", "1970-01-01T00:00:00Z")},
       {"created_by", created_by},
       {"comment", "autopack"}});
}

void Configuration::add_empty_history(const std::string& created_by,
                                      std::optional<std::int64_t> seconds) {
  (*document_)["history"].push_back(
      {{"created",
        seconds ? in_rfc3339(*seconds) : document_->value("created", "1970-01-01T00:00:00Z")},
       {"created_by", created_by},
       {"comment", "autopack"},
       {"empty_layer", true}});
}

std::string Configuration::to_json() const {
  return document_->dump();
}

}  // namespace autopack::image
