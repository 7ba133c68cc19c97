#include "job/legacy.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "job/config_document.hpp"
#include "job/config_reader.hpp"
#include "job/flag_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::job {

using nlohmann::json;

namespace {

bool has_key(const YAML::Node& node, std::string_view name) {
  return std::any_of(node.begin(), node.end(), [&](const auto& pair) {
    return camel_case(pair.first.template as<std::string>("")) == name;
  });
}

/// A Job, or a TrainingInput alone.
json read_file(const LegacyFile& file, Config& config, Problems& problems) {
  ConfigReader reader{config, problems};
  try {
    const auto node = load_document(file.text, config.origin);
    if (node.IsDefined() && node.IsMap() && has_key(node, "predictionInput")) {
      reader.fault(node, fmt::format("`{}` is a prediction job; only training is translated",
                                     config.origin));
      return json::object();
    }
    const bool is_job = !node.IsMap() || has_key(node, "trainingInput") || has_key(node, "jobId") ||
                        has_key(node, "labels");
    if (is_job) {
      return reader.read_message(node, tables::message("LegacyJob"), "");
    }
    reader.hide_prefix("trainingInput");
    return {{"trainingInput",
             reader.read_message(node, tables::message("TrainingInput"), "trainingInput")}};
  } catch (const Error& error) {
    problems.push_back({.message = error.message(), .origin = fmt::format("`{}`", config.origin)});
  } catch (const YAML::Exception&) {
    problems.push_back({.message = fmt::format("`{}` cannot be read as a job", config.origin),
                        .origin = fmt::format("`{}`", config.origin)});
  }
  return json::object();
}

/// `nvidia-tesla-t4` as `NVIDIA_TESLA_T4`.
std::string upper_name(std::string_view text) {
  return to_upper(replace_all(std::string{text}, "-", "_"));
}

class FlagOverlay {
public:
  FlagOverlay(const LegacyFlags& flags, Legacy& legacy) : flags_{flags}, legacy_{legacy} {}

  void run();

private:
  json& input() { return (*legacy_.job)["trainingInput"]; }

  void set(const std::string& key, std::string_view flag, json value);
  void texts();
  void enumeration(const char* key, std::string_view flag, const std::string& value);
  void role(const std::string& key, const std::string& flag, const LegacyRoleFlags& role);
  void accelerator(const std::string& key, const std::string& flag, const std::string& value);
  void packages();
  void booleans();

  const LegacyFlags& flags_;
  Legacy& legacy_;
};

/// Sets a value of the training input; keys below one another stand with dots.
void FlagOverlay::set(const std::string& key, std::string_view flag, json value) {
  json* target = &input();
  for (const auto& part : split(key, '.')) {
    target = &(*target)[part];
  }
  *target = std::move(value);
  legacy_.origins["trainingInput." + key] = fmt::format("`{}`", flag);
}

void FlagOverlay::texts() {
  const std::array<std::tuple<const char*, const char*, const std::string*>, 8> texts{{
      {"region", "--region", &flags_.region},
      {"runtimeVersion", "--runtime-version", &flags_.runtime_version},
      {"pythonVersion", "--python-version", &flags_.python_version},
      {"pythonModule", "--module-name", &flags_.module_name},
      {"jobDir", "--job-dir", &flags_.job_dir},
      {"serviceAccount", "--service-account", &flags_.service_account},
      {"network", "--network", &flags_.network},
      {"encryptionConfig.kmsKeyName", "--kms-key", &flags_.kms_key},
  }};
  for (const auto& [key, flag, value] : texts) {
    if (!value->empty()) {
      set(key, flag, *value);
    }
  }
}

void FlagOverlay::enumeration(const char* key, std::string_view flag, const std::string& value) {
  if (value.empty()) {
    return;
  }
  const auto name = upper_name(value);
  const auto values = tables::find_field(tables::message("TrainingInput"), key)->values;
  set(key, flag, name);
  if (std::find(values.begin(), values.end(), name) == values.end()) {
    legacy_.error(fmt::format("trainingInput.{}", key),
                  fmt::format("`{}` is no value of `{}`{}", printable(value), flag,
                              tables::did_you_mean(name, values)));
  }
}

void FlagOverlay::accelerator(const std::string& key,
                              const std::string& flag,
                              const std::string& value) {
  const auto values = tables::find_field(tables::message("AcceleratorConfig"), "type")->values;
  json config = json::object();
  for (const auto& [name, text] : split_pairs(value, flag, legacy_.problems)) {
    if (name == "type") {
      config["type"] = upper_name(text);
    } else if (name == "count") {
      config["count"] = text;
    } else {
      legacy_.problems.push_back(
          {.message = fmt::format("`{}` is no key of `{}`", printable(name), flag),
           .origin = fmt::format("`{}`", flag),
           .hints = {"its keys are `type` and `count`"}});
    }
  }
  set(key, flag, config);
  const auto type = config.value("type", "");
  const auto count = config.value("count", "");
  const bool is_count = !count.empty() && count.size() < 4 &&
                        count.find_first_not_of("0123456789") == std::string::npos && count != "0";
  if (std::find(values.begin(), values.end(), type) == values.end() || !is_count) {
    legacy_.error("trainingInput." + key,
                  fmt::format("`{}` is no accelerator: type=nvidia-tesla-t4,count=1 is wanted",
                              printable(value)));
    set(key, flag, json::object());
  }
}

void FlagOverlay::role(const std::string& key,
                       const std::string& flag,
                       const LegacyRoleFlags& role) {
  if (!role.machine_type.empty()) {
    set(key + "Type", flag + "-machine-type", role.machine_type);
  }
  if (!role.image_uri.empty()) {
    set(key + "Config.imageUri", flag + "-image-uri", role.image_uri);
  }
  if (!role.accelerator.empty()) {
    accelerator(key + "Config.acceleratorConfig", flag + "-accelerator", role.accelerator);
  }
  if (role.count.empty()) {
    return;
  }
  if (role.count.size() > 9 || role.count.find_first_not_of("0123456789") != std::string::npos) {
    legacy_.problems.push_back(
        {.message = fmt::format("`{}` is no number of replicas", printable(role.count)),
         .origin = fmt::format("`{}-count`", flag)});
    return;
  }
  set(key + "Count", flag + "-count", std::to_string(std::stoll(role.count)));
}

void FlagOverlay::packages() {
  json uris = json::array();
  for (const auto& package : flags_.packages) {
    if (package.starts_with("gs://")) {
      uris.push_back(package);
    } else {
      legacy_.local_packages.push_back(package);
    }
  }
  if (!uris.empty()) {
    set("packageUris", "--packages", std::move(uris));
  }
  legacy_.package_path = flags_.package_path;
  legacy_.origins["packagePath"] = "`--package-path`";
  legacy_.origins["packages"] = "`--packages`";
}

void FlagOverlay::booleans() {
  if (flags_.enable_web_access) {
    set("enableWebAccess", "--enable-web-access", true);
  }
  if (!flags_.use_chief.empty()) {
    const auto word = to_lower(flags_.use_chief);
    if (word != "true" && word != "false") {
      legacy_.problems.push_back({.message = fmt::format("`{}` is neither `true` nor `false`",
                                                         printable(flags_.use_chief)),
                                  .origin = "`--use-chief-in-tf-config`"});
    }
    set("useChiefInTfConfig", "--use-chief-in-tf-config", word == "true");
  }
}

void FlagOverlay::run() {
  if (!input().is_object()) {
    input() = json::object();
  }
  if (!flags_.job_id.empty()) {
    (*legacy_.job)["jobId"] = flags_.job_id;
  }
  texts();
  enumeration("scaleTier", "--scale-tier", flags_.scale_tier);
  role("master", "--master", flags_.master);
  role("worker", "--worker", flags_.worker);
  role("parameterServer", "--parameter-server", flags_.parameter_server);
  role("evaluator", "--evaluator", flags_.evaluator);
  packages();
  booleans();
  if (flags_.args) {
    set("args", "--", *flags_.args);
  }
  if (!flags_.labels.empty()) {
    (*legacy_.job)["labels"] = json::object();
    for (const auto& [key, value] : flags_.labels) {
      (*legacy_.job)["labels"][key] = value;
    }
  }
}

}  // namespace

const json& Legacy::input() const {
  return job->at("trainingInput");
}

std::string Legacy::text(std::string_view key) const {
  const auto found = input().find(key);
  return found != input().end() && found->is_string() ? found->get<std::string>() : "";
}

void Legacy::error(const std::string& path, std::string message, std::vector<std::string> hints) {
  const auto origin = origins.find(path);
  problems.push_back({.message = std::move(message),
                      .origin = origin == origins.end() ? "" : origin->second,
                      .hints = std::move(hints)});
}

void Legacy::missing(const std::string& path, std::string message, std::vector<std::string> hints) {
  if (!origins.contains(path)) {
    error(path, std::move(message), std::move(hints));
  }
}

void Legacy::warn(const std::string& path, std::string message, std::vector<std::string> hints) {
  error(path, std::move(message), std::move(hints));
  problems.back().severity = Problem::Severity::warning;
}

Legacy read_legacy(const LegacyFlags& flags, const std::optional<LegacyFile>& file) {
  Legacy legacy{.job = std::make_shared<json>(json::object())};
  if (file) {
    Config config{.origin = file->name == "-" ? "standard input" : file->name};
    *legacy.job = read_file(*file, config, legacy.problems);
    legacy.origins = config.origins;
  }
  FlagOverlay{flags, legacy}.run();
  return legacy;
}

}  // namespace autopack::job
