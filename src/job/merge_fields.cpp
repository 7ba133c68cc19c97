#include "base/json.hpp"
#include "base/text.hpp"
#include "job/flag_values.hpp"
#include "job/merge.hpp"

#include <fmt/format.h>

#include <array>

namespace autopack::job {

using nlohmann::json;

namespace {

/// Lays the flags that concern the whole job over the draft.
class FieldMerge {
public:
  FieldMerge(const JobFlags& flags, Draft& draft, Problems& problems)
      : flags_{flags}, draft_{draft}, problems_{problems} {}

  void run(const Location& location);

private:
  void names();
  void scheduling();
  void psc_interface();
  void encryption(const Location& location);
  bool key_is_complete(const std::string& project);
  void set(const std::string& path, std::string_view flag, json value);
  void unset(const std::string& path);
  void text(const std::string& path, std::string_view flag, const std::string& value);
  void list(const std::string& path, std::string_view flag, const std::vector<std::string>& values);
  void boolean(const std::string& path, std::string_view flag, const std::optional<bool>& value);
  void duration(const std::string& path, std::string_view flag, const std::string& value);
  void fault(std::string_view flag, std::string message);

  const JobFlags& flags_;
  Draft& draft_;
  Problems& problems_;
};

void FieldMerge::fault(std::string_view flag, std::string message) {
  problems_.push_back({.message = std::move(message), .origin = fmt::format("`{}`", flag)});
}

/// Sets a value at a path of object keys, remembering the flag as its origin.
void FieldMerge::set(const std::string& path, std::string_view flag, json value) {
  json* target = draft_.body.get();
  for (const auto& key : split(path, '.')) {
    target = &(*target)[key];
  }
  *target = std::move(value);
  draft_.origins[path] = fmt::format("`{}`", flag);
}

/// Takes away what a file says at `path`; false is left out as gcloud leaves it out.
void FieldMerge::unset(const std::string& path) {
  json* target = draft_.body.get();
  const auto keys = split(path, '.');
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    if (!target->contains(keys[i])) {
      return;
    }
    target = &(*target)[keys[i]];
  }
  target->erase(keys.back());
  draft_.origins.erase(path);
}

void FieldMerge::text(const std::string& path, std::string_view flag, const std::string& value) {
  if (!value.empty()) {
    set(path, flag, value);
  }
}

void FieldMerge::list(const std::string& path,
                      std::string_view flag,
                      const std::vector<std::string>& values) {
  if (!values.empty()) {
    set(path, flag, values);
  }
}

void FieldMerge::boolean(const std::string& path,
                         std::string_view flag,
                         const std::optional<bool>& value) {
  if (value && *value) {
    set(path, flag, true);
  } else if (value) {
    unset(path);
  }
}

void FieldMerge::duration(const std::string& path,
                          std::string_view flag,
                          const std::string& value) {
  if (value.empty()) {
    return;
  }
  if (const auto duration = api_duration(value)) {
    set(path, flag, *duration);
    return;
  }
  fault(flag,
        fmt::format("`{}` is not a duration such as `3600s`, `2h` or `7d`", printable(value)));
}

void FieldMerge::scheduling() {
  duration("jobSpec.scheduling.timeout", "--timeout", flags_.timeout);
  duration("jobSpec.scheduling.maxWaitDuration", "--max-wait-duration", flags_.max_wait_duration);
  text("jobSpec.scheduling.strategy", "--strategy", flags_.strategy);
  boolean("jobSpec.scheduling.restartJobOnWorkerRestart", "--restart-on-worker-restart",
          flags_.restart_on_worker_restart);
  boolean("jobSpec.scheduling.disableRetries", "--disable-retries", flags_.disable_retries);
}

void FieldMerge::psc_interface() {
  text("jobSpec.pscInterfaceConfig.networkAttachment", "--network-attachment",
       flags_.network_attachment);
  if (flags_.dns_peerings.empty()) {
    return;
  }
  auto peerings = json::array();
  for (const auto& peering : flags_.dns_peerings) {
    peerings.push_back(
        message_of_pairs(peering, tables::message("DnsPeeringConfig"), "--dns-peering", problems_));
  }
  set("jobSpec.pscInterfaceConfig.dnsPeeringConfigs", "--dns-peering", std::move(peerings));
}

bool FieldMerge::key_is_complete(const std::string& project) {
  const std::array<std::pair<std::string_view, const std::string*>, 3> parts{{
      {"--kms-keyring", &flags_.kms_keyring},
      {"--kms-location", &flags_.kms_location},
      {"--kms-project", &project},
  }};
  bool complete = true;
  for (const auto& [flag, value] : parts) {
    if (value->empty()) {
      fault("--kms-key",
            fmt::format("`--kms-key` is the id of a key, so `{}` is needed too", flag));
      complete = false;
    }
  }
  return complete;
}

void FieldMerge::encryption(const Location& location) {
  if (flags_.kms_key.empty()) {
    if (!(flags_.kms_keyring + flags_.kms_location + flags_.kms_project).empty()) {
      fault("--kms-key", "parts of an encryption key are given without `--kms-key`");
    }
    return;
  }
  if (flags_.kms_key.find('/') != std::string::npos) {
    text("encryptionSpec.kmsKeyName", "--kms-key", flags_.kms_key);
    return;
  }
  const auto& project = flags_.kms_project.empty() ? location.project : flags_.kms_project;
  if (key_is_complete(project)) {
    text("encryptionSpec.kmsKeyName", "--kms-key",
         fmt::format("projects/{}/locations/{}/keyRings/{}/cryptoKeys/{}", project,
                     flags_.kms_location, flags_.kms_keyring, flags_.kms_key));
  }
}

void FieldMerge::names() {
  text("jobSpec.network", "--network", flags_.network);
  text("jobSpec.serviceAccount", "--service-account", flags_.service_account);
  text("jobSpec.persistentResourceId", "--persistent-resource-id", flags_.persistent_resource_id);
  text("jobSpec.tensorboard", "--tensorboard", flags_.tensorboard);
  text("jobSpec.baseOutputDirectory.outputUriPrefix", "--base-output-dir", flags_.base_output_dir);
  text("jobSpec.experiment", "--experiment", flags_.experiment);
  text("jobSpec.experimentRun", "--experiment-run", flags_.experiment_run);
  text("jobSpec.protectedArtifactLocationId", "--protected-artifact-location",
       flags_.protected_artifact_location);
  list("jobSpec.reservedIpRanges", "--reserved-ip-ranges", flags_.reserved_ip_ranges);
  list("jobSpec.models", "--models", flags_.models);
  boolean("jobSpec.enableWebAccess", "--enable-web-access", flags_.enable_web_access);
  boolean("jobSpec.enableDashboardAccess", "--enable-dashboard-access",
          flags_.enable_dashboard_access);
  // gcloud, which reads labels from no other file, lets the flag's take the place of all
  if (!flags_.labels.empty() && draft_.kind == JobKind::tuning_job) {
    draft_.body->erase("labels");
  }
  for (const auto& [key, value] : flags_.labels) {
    (*draft_.body)["labels"][key] = value;
    draft_.origins["labels." + key] = "`--labels`";
  }
}

void FieldMerge::run(const Location& location) {
  text("displayName", "--display-name", flags_.display_name);
  if (!draft_.body->contains("displayName")) {
    text("displayName", "--display-name", flags_.fallback_display_name);
  }
  names();
  scheduling();
  psc_interface();
  encryption(location);
}

}  // namespace

void merge_fields(const JobFlags& flags,
                  const Location& location,
                  Draft& draft,
                  Problems& problems) {
  FieldMerge{flags, draft, problems}.run(location);
}

}  // namespace autopack::job
