#include "base/contains.hpp"
#include "base/text.hpp"
#include "job/flag_values.hpp"
#include "job/resource_names.hpp"
#include "job/rules.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::job {

namespace {

constexpr std::size_t longest_display_name = 128;  // characters
constexpr std::size_t longest_label = 63;          // characters
constexpr std::size_t most_labels = 64;

/// Letters of other scripts are allowed; of ASCII only lower case, digits, `-` and `_`.
bool is_label_text(std::string_view text) {
  return characters(text) <= longest_label && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                  static_cast<unsigned char>(c) >= 0x80U;
         });
}

bool is_label_key(std::string_view key) {
  return is_label_text(key) && !key.empty() &&
         ((key[0] >= 'a' && key[0] <= 'z') || static_cast<unsigned char>(key[0]) >= 0x80U);
}

void check_names(const Job& job, Review& review) {
  const auto name = job.display_name.value_or("");
  if (name.empty() && !review.was_given("displayName")) {
    review.error("displayName", "the job has no name", {"name it: --display-name=NAME"});
  }
  if (characters(name) > longest_display_name) {
    review.error("displayName",
                 fmt::format("the job's name has {} characters; the service accepts {}",
                             characters(name), longest_display_name));
  }
  const auto labels = job.labels.value_or(std::map<std::string, std::string>{});
  if (labels.size() > most_labels) {
    review.error("labels", fmt::format("the job has {} labels; the service accepts {}",
                                       labels.size(), most_labels));
  }
  for (const auto& [key, value] : labels) {
    if (!is_label_key(key)) {
      review.error("labels." + key,
                   fmt::format("`{}` is not a label key: a lower-case letter, then lower-case "
                               "letters, digits, `-` and `_`, at most {}",
                               printable(key), longest_label));
    }
    if (!is_label_text(value)) {
      review.error("labels." + key,
                   fmt::format("the value of label `{}` may hold lower-case letters, digits, `-` "
                               "and `_`, at most {}",
                               printable(key), longest_label));
    }
  }
}

/// Both become parts of a URL, so `--skip-checks` does not skip this.
void check_location(const Location& location, Review& review) {
  if (location.project && !is_project_id(*location.project)) {
    review.error("project", fmt::format("`{}` is not a project id", printable(*location.project)),
                 {"list yours: gcloud projects list"});
  }
  if (!location.region) {
    return;
  }
  const auto known = tables::regions();
  const bool is_known = contains(known, *location.region);
  const bool accepted = review.options().skip_tables ? is_region_form(*location.region) : is_known;
  if (!accepted) {
    review.error("region", fmt::format("unknown region `{}`{}", printable(*location.region),
                                       tables::did_you_mean(*location.region, known)));
  }
}

/// A field with a resource name whose form the service checks.
struct NameRule {
  const char* path;  ///< in the job, for the origin
  const char* form;  ///< as for match_name
  const char* note;  ///< a common mistake
};

void check_resource_name(const Text& value,
                         const NameRule& rule,
                         const Location& location,
                         Review& review) {
  if (!value || value->empty()) {
    return;
  }
  const auto match = match_name(*value, rule.form);
  if (!match) {
    review.error(rule.path,
                 fmt::format("`{}` is not a valid name for {}: expected `{}`{}", printable(*value),
                             shown_path(rule.path), rule.form, rule.note));
  } else if (match->region && location.region && match->region != location.region) {
    review.error(rule.path, fmt::format("{} is in `{}`, but the job is in `{}`",
                                        shown_path(rule.path), *match->region, *location.region));
  }
}

void check_text(const Text& value,
                const char* path,
                bool (*fits)(std::string_view),
                const char* wanted,
                Review& review) {
  if (value && !value->empty() && !fits(*value)) {
    review.error(path, fmt::format("`{}` is not a valid name for {}: expected {}",
                                   printable(*value), shown_path(path), wanted));
  }
}

void check_resources(const Job& job, const Location& location, Review& review) {
  const auto& spec = job.spec;
  check_resource_name(spec.network,
                      {"jobSpec.network", "projects/NUMBER/global/networks/NAME",
                       ", with the number of the project,"},
                      location, review);
  if (!review.options().on_cluster) {
    check_text(spec.service_account, "jobSpec.serviceAccount", is_service_account,
               "an e-mail address or a numeric id", review);
  }
  check_resource_name(
      spec.tensorboard,
      {"jobSpec.tensorboard", "projects/PROJECT/locations/REGION/tensorboards/ID", ""}, location,
      review);
  check_resource_name(job.encryption ? job.encryption->key_name : std::nullopt,
                      {"encryptionSpec.kmsKeyName",
                       "projects/PROJECT/locations/REGION/keyRings/RING/cryptoKeys/KEY", ""},
                      location, review);
  check_text(spec.output ? spec.output->uri : std::nullopt,
             "jobSpec.baseOutputDirectory.outputUriPrefix", is_bucket_uri, "`gs://BUCKET/PATH`",
             review);
  if (spec.network && spec.psc_interface) {
    review.error("jobSpec.network", "`network` and `pscInterfaceConfig` exclude each other");
  }
  if (spec.tensorboard && !review.was_given("jobSpec.serviceAccount")) {
    review.error("jobSpec.tensorboard", "a job with a TensorBoard needs a service account",
                 {"--service-account=ACCOUNT, with access to the TensorBoard"});
  }
}

}  // namespace

void check_job_fields(const Job& job, const Location& location, Review& review) {
  check_names(job, review);
  check_location(location, review);
  check_resources(job, location, review);
}

}  // namespace autopack::job
