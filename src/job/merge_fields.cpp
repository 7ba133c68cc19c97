#include "base/json.hpp"
#include "base/text.hpp"
#include "job/merge.hpp"
#include "job/message_json.hpp"

#include <fmt/format.h>

#include <array>

namespace autopack::job {

namespace {

constexpr auto* display_name_path = "displayName";
constexpr auto* key_path = "encryptionSpec.kmsKeyName";
constexpr auto* dns_path = "jobSpec.pscInterfaceConfig.dnsPeeringConfigs";

/// Merges the flags for the whole job.
class FieldMerge {
public:
  FieldMerge(const JobFlags& flags, Job& job, Problems& problems)
      : flags_{flags}, job_{job}, problems_{problems} {}

  void run(const Location& location);

private:
  void display_name();
  void labels();
  void dns_peerings();
  void encryption(const Location& location);
  bool key_is_complete(const Text& project);
  void set_key(std::string name);
  void fault(std::string_view flag, std::string message);

  const JobFlags& flags_;
  Job& job_;
  Problems& problems_;
};

void FieldMerge::fault(std::string_view flag, std::string message) {
  problems_.push_back({.message = std::move(message), .origin = to_string(flags_.origin(flag))});
}

void FieldMerge::display_name() {
  if (!flags_.display_name && job_.display_name) {
    return;
  }
  const auto& name = flags_.display_name ? flags_.display_name : flags_.default_display_name;
  if (name) {
    job_.display_name = name;
    job_.origins[display_name_path] = flags_.origin("--display-name");
  }
}

void FieldMerge::labels() {
  if (flags_.labels.empty()) {
    return;
  }
  // the flag replaces all labels of the file, because gcloud reads labels from no other file
  if (job_.kind == JobKind::tuning_job) {
    job_.labels.reset();
  }
  for (const auto& [key, value] : flags_.labels) {
    ensure(job_.labels)[key] = value;
    job_.origins["labels." + key] = flags_.origin("--labels");
  }
}

void FieldMerge::dns_peerings() {
  if (flags_.dns_peerings.empty()) {
    return;
  }
  auto& peerings = ensure(job_.spec.psc_interface).dns_peerings;
  peerings.clear();
  for (const auto& peering : flags_.dns_peerings) {
    peerings.push_back(read_message<DnsPeering>(message_of_pairs(
        peering, tables::message("DnsPeeringConfig"), "--dns-peering", problems_)));
  }
  job_.origins[dns_path] = flags_.origin("--dns-peering");
}

bool FieldMerge::key_is_complete(const Text& project) {
  const std::array<std::pair<std::string_view, const Text*>, 3> parts{{
      {"--kms-keyring", &flags_.kms.keyring},
      {"--kms-location", &flags_.kms.location},
      {"--kms-project", &project},
  }};
  bool complete = true;
  for (const auto& [flag, value] : parts) {
    if (!*value) {
      fault("--kms-key",
            fmt::format("`--kms-key` is the id of a key, so `{}` is needed too", flag));
      complete = false;
    }
  }
  return complete;
}

void FieldMerge::set_key(std::string name) {
  ensure(job_.encryption).key_name = std::move(name);
  job_.origins[key_path] = flags_.origin("--kms-key");
}

void FieldMerge::encryption(const Location& location) {
  const auto& kms = flags_.kms;
  if (!kms.key) {
    if (kms.keyring || kms.location || kms.project) {
      fault("--kms-key", "parts of an encryption key are given without `--kms-key`");
    }
    return;
  }
  if (kms.key->find('/') != std::string::npos) {
    set_key(*kms.key);
    return;
  }
  const auto& project = kms.project ? kms.project : location.project;
  if (key_is_complete(project)) {
    set_key(fmt::format("projects/{}/locations/{}/keyRings/{}/cryptoKeys/{}", *project,
                        *kms.location, *kms.keyring, *kms.key));
  }
}

void FieldMerge::run(const Location& location) {
  display_name();
  labels();
  for (const auto& given : flags_.fields) {
    if (!is_of_pipeline(*given.flag) && !is_of_pool(*given.flag)) {
      set_field(given, job_, problems_);
    }
  }
  dns_peerings();
  encryption(location);
}

}  // namespace

void merge_fields(const JobFlags& flags, const Location& location, Job& job, Problems& problems) {
  FieldMerge{flags, job, problems}.run(location);
}

}  // namespace autopack::job
