#include "job/legacy.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/config_document.hpp"
#include "job/config_reader.hpp"
#include "job/flag_values.hpp"
#include "job/message_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace autopack::job {

namespace {

bool has_key(const YAML::Node& node, std::string_view name) {
  return std::ranges::any_of(node, [&](const auto& pair) {
    return camel_case(pair.first.template as<std::string>("")) == name;
  });
}

/// Reads a Job, or a TrainingInput alone.
nlohmann::json read_node(const YAML::Node& node, const std::string& name, ConfigReader& reader) {
  if (node.IsDefined() && node.IsMap() && has_key(node, "predictionInput")) {
    reader.fault(node, fmt::format("`{}` is a prediction job; only training is translated", name));
    return nlohmann::json::object();
  }
  const bool is_job = !node.IsMap() || has_key(node, "trainingInput") || has_key(node, "jobId") ||
                      has_key(node, "labels");
  if (is_job) {
    return reader.read_message(node, tables::message("LegacyJob"), "");
  }
  const std::string input{"trainingInput"};
  reader.hide_prefix(input);
  return {{input, reader.read_message(node, tables::message("TrainingInput"), input)}};
}

void read_file(const LegacyFile& file, Legacy& legacy) {
  const std::string name = file.name == "-" ? "standard input" : file.name;
  const auto origin = to_string(Origin::file(name));
  ConfigReader reader{name, legacy.origins, legacy.problems};
  try {
    legacy.job = read_message<LegacyJob>(read_node(load_document(file.text, name), name, reader));
  } catch (const Error& error) {
    legacy.problems.push_back({.message = error.message(), .origin = origin});
  } catch (const YAML::Exception&) {
    legacy.problems.push_back(
        {.message = fmt::format("`{}` cannot be read as a job", name), .origin = origin});
  }
}

/// Converts `nvidia-tesla-t4` to `NVIDIA_TESLA_T4`.
std::string upper_name(std::string_view text) {
  return to_upper(replace_all(std::string{text}, "-", "_"));
}

/// Accepts only digits, at most `most` of them.
Number number_of(const std::string& text, std::size_t most) {
  std::int64_t number = 0;
  const bool is_number = !text.empty() && text.size() <= most &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return is_number ? Number{number} : std::nullopt;
}

class FlagOverlay {
public:
  FlagOverlay(const LegacyFlags& flags, Legacy& legacy) : flags_{flags}, legacy_{legacy} {}

  void run();

private:
  LegacyInput& input() { return legacy_.job.input; }

  void came_from(const std::string& key, const std::string& flag);
  void fault(const std::string& flag, std::string message, std::vector<std::string> hints = {});
  void text(Text& into, const char* key, const char* flag, const Text& value);
  void texts();
  void scale_tier();
  void role(const LegacyRole& role, const std::string& flag, const LegacyRoleFlags& given);
  void count(const LegacyRole& role, const std::string& flag, const Text& text);
  LegacyAccelerator accelerator(const std::string& path,
                                const std::string& flag,
                                const std::string& value);
  void packages();
  void booleans();
  void labels();

  const LegacyFlags& flags_;
  Legacy& legacy_;
};

/// Records that `flag` gave the value of the training input at `key`.
void FlagOverlay::came_from(const std::string& key, const std::string& flag) {
  legacy_.origins["trainingInput." + key] = Origin::flag(flag);
}

void FlagOverlay::fault(const std::string& flag,
                        std::string message,
                        std::vector<std::string> hints) {
  legacy_.problems.push_back({.message = std::move(message),
                              .origin = to_string(Origin::flag(flag)),
                              .hints = std::move(hints)});
}

void FlagOverlay::text(Text& into, const char* key, const char* flag, const Text& value) {
  if (value) {
    into = value;
    came_from(key, flag);
  }
}

void FlagOverlay::texts() {
  auto& to = input();
  text(to.region, "region", "--region", flags_.region);
  text(to.runtime_version, "runtimeVersion", "--runtime-version", flags_.runtime_version);
  text(to.python_version, "pythonVersion", "--python-version", flags_.python_version);
  text(to.module, "pythonModule", "--module-name", flags_.module_name);
  text(to.job_directory, "jobDir", "--job-dir", flags_.job_dir);
  text(to.service_account, "serviceAccount", "--service-account", flags_.service_account);
  text(to.network, "network", "--network", flags_.network);
  if (flags_.kms_key) {
    text(ensure(to.encryption).key_name, "encryptionConfig.kmsKeyName", "--kms-key",
         flags_.kms_key);
  }
}

void FlagOverlay::scale_tier() {
  const auto& typed = flags_.scale_tier;
  if (!typed) {
    return;
  }
  const auto name = upper_name(*typed);
  const auto values = tables::find_field(tables::message("TrainingInput"), "scaleTier")->values;
  text(input().scale_tier, "scaleTier", "--scale-tier", name);
  if (!contains(values, name)) {
    legacy_.error("trainingInput.scaleTier",
                  fmt::format("`{}` is not a value of `--scale-tier`{}", printable(*typed),
                              tables::did_you_mean(name, values)));
  }
}

/// Returns an empty value if it is invalid.
LegacyAccelerator FlagOverlay::accelerator(const std::string& path,
                                           const std::string& flag,
                                           const std::string& value) {
  const auto types = tables::find_field(tables::message("AcceleratorConfig"), "type")->values;
  LegacyAccelerator result;
  for (const auto& [name, typed] : split_pairs(value, flag, legacy_.problems)) {
    if (name == "type") {
      result.type = upper_name(typed);
    } else if (name == "count") {
      result.count = number_of(typed, 3);
    } else {
      fault(flag, fmt::format("`{}` is not a key of `{}`", printable(name), flag),
            {"its keys are `type` and `count`"});
    }
  }
  const bool is_type = result.type && contains(types, *result.type);
  if (is_type && result.count.value_or(0) > 0) {
    return result;
  }
  legacy_.error("trainingInput." + path,
                fmt::format("`{}` is not an accelerator: expected type=nvidia-tesla-t4,count=1",
                            printable(value)));
  return {};
}

void FlagOverlay::count(const LegacyRole& role, const std::string& flag, const Text& text) {
  if (!text) {
    return;
  }
  const auto number = number_of(*text, 9);
  if (!number) {
    fault(flag, fmt::format("`{}` is not a number of replicas", printable(*text)));
    return;
  }
  input().*role.count = number;
  came_from(fmt::format("{}Count", role.name), flag);
}

void FlagOverlay::role(const LegacyRole& role,
                       const std::string& flag,
                       const LegacyRoleFlags& given) {
  const std::string key{role.name};
  auto& replica = input().*role.replica;
  if (given.machine_type) {
    input().*role.type = given.machine_type;
    came_from(key + "Type", flag + "-machine-type");
  }
  if (given.image_uri) {
    ensure(replica).image = given.image_uri;
    came_from(key + "Config.imageUri", flag + "-image-uri");
  }
  if (given.accelerator) {
    const auto path = key + "Config.acceleratorConfig";
    came_from(path, flag + "-accelerator");
    ensure(replica).accelerator = accelerator(path, flag + "-accelerator", *given.accelerator);
  }
  count(role, flag + "-count", given.count);
}

void FlagOverlay::packages() {
  std::vector<std::string> uris;
  for (const auto& package : flags_.packages) {
    if (package.starts_with("gs://")) {
      uris.push_back(package);
    } else {
      legacy_.local_packages.push_back(package);
    }
  }
  if (!uris.empty()) {
    input().package_uris = std::move(uris);
    came_from("packageUris", "--packages");
  }
  legacy_.package_path = flags_.package_path;
}

void FlagOverlay::booleans() {
  if (flags_.enable_web_access) {
    input().enable_web_access = true;
    came_from("enableWebAccess", "--enable-web-access");
  }
  if (flags_.use_chief) {
    const std::string flag{"--use-chief-in-tf-config"};
    const auto word = to_lower(*flags_.use_chief);
    if (word != "true" && word != "false") {
      fault(flag, fmt::format("`{}` is neither `true` nor `false`", printable(*flags_.use_chief)));
    }
    input().use_chief = word == "true";
    came_from("useChiefInTfConfig", flag);
  }
}

void FlagOverlay::labels() {
  if (flags_.labels.empty()) {
    return;
  }
  auto& labels = legacy_.job.labels.emplace();
  for (const auto& [key, value] : flags_.labels) {
    labels[key] = value;
  }
}

void FlagOverlay::run() {
  if (flags_.job_id) {
    legacy_.job.id = flags_.job_id;
  }
  texts();
  scale_tier();
  const auto& [master, worker, parameter_server, evaluator] = legacy_roles;
  role(master, "--master", flags_.master);
  role(worker, "--worker", flags_.worker);
  role(parameter_server, "--parameter-server", flags_.parameter_server);
  role(evaluator, "--evaluator", flags_.evaluator);
  packages();
  booleans();
  if (flags_.args) {
    input().args = *flags_.args;
    came_from("args", "--");
  }
  labels();
}

}  // namespace

void Legacy::error(const std::string& path, std::string message, std::vector<std::string> hints) {
  const auto origin = origins.find(path);
  problems.push_back(
      {.message = std::move(message),
       .origin = origin == origins.end() ? std::nullopt : std::optional{to_string(origin->second)},
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
  Legacy legacy;
  if (file) {
    read_file(*file, legacy);
  }
  FlagOverlay{flags, legacy}.run();
  return legacy;
}

}  // namespace autopack::job
