#pragma once

#include "base/error.hpp"
#include "job/flag_value.hpp"
#include "job/job.hpp"
#include "job/origin.hpp"
#include "packaging/settings.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// The flags of a job, parsed but not yet merged with a file's job.
namespace autopack::job {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// One `--worker-pool-spec`. Absent members were not typed.
struct PoolFlags : packaging::Settings {
  Text machine_type{};
  Number replica_count{};
  Text accelerator_type{};
  Number accelerator_count{};
  Text container_image_uri{};
  std::optional<Origin> origin{};  ///< absent: nobody named the pool
  /// Origins of keys that do not come from `origin`.
  std::map<std::string, Origin, std::less<>> origins{};

  /// Returns true if no key was typed; the file may still describe the pool.
  bool empty() const;

  /// Returns true if a key selects something to package; `container-image-uri` does not count.
  bool names_project() const;

  /// Returns the origin of `key`'s value, or nothing if nobody named the pool.
  std::optional<Origin> origin_of(std::string_view key) const {
    const auto found = origins.find(key);
    return found == origins.end() ? origin : std::optional{found->second};
  }
};

/// The flags of a study and its trials.
struct StudyFlags {
  std::vector<std::string> metrics{};     ///< `accuracy:maximize`
  std::vector<std::string> parameters{};  ///< `lr:double:1e-5..1e-1:log`
  Number max_trial_count{};
  Number parallel_trial_count{};
  Number max_failed_trial_count{};
  Text algorithm{};              ///< `grid-search`, `random-search`
  Text measurement_selection{};  ///< `best`, `last`
  Text early_stopping{};         ///< `median`, `decay-curve`, `convex`
};

/// An encryption key: its whole resource name, or its id with the other three members.
struct KeyFlags {
  Text key{};
  Text keyring{};
  Text location{};
  Text project{};
};

/// The flags of the container that serves a model.
struct ServingFlags {
  std::vector<std::string> ports{};
  Pairs env{};
  Pairs labels{};  ///< of the model
};

// The flags that set one field each. To add one, add a row to the table in field_flags.cpp.

/// The groups of flags in the help of a command.
enum class FlagGroup { places, limits, machines, network, records, model, version, data };

/// The place of a flag's value; missing parents are created.
struct TextField {
  Text& (*place)(Job& job);
};

struct DurationField {
  Text& (*place)(Job& job);
};

struct SwitchField {
  Truth& (*place)(Job& job);
};

struct ListField {
  std::vector<std::string>& (*place)(Job& job);
};

/// A field of each pool that the flags address.
struct PoolTextField {
  Text& (*place)(Pool& pool);
};

struct PoolNumberField {
  Number& (*place)(Pool& pool);
};

using FieldPlace =
    std::variant<TextField, DurationField, SwitchField, ListField, PoolTextField, PoolNumberField>;

struct FieldFlag {
  FlagGroup group;
  std::string_view flag;                  ///< `--network`
  std::optional<std::string_view> label;  ///< `NAME`; absent for a switch
  std::string_view help;
  std::string_view path;  ///< `jobSpec.network`; for a pool's field, relative to the pool
  FieldPlace place;
};

/// Returns the flags in the order of the help.
std::span<const FieldFlag> field_flags();
/// Returns the row of `flag`; null if it does not set a single field.
const FieldFlag* find_field_flag(std::string_view flag);

/// The value of a flag: text, `true` or `false`, a number, or a list's elements.
using FieldValue = std::variant<std::string, bool, std::int64_t, std::vector<std::string>>;

struct GivenField {
  const FieldFlag* flag{nullptr};
  FieldValue value{};
  Origin origin{};
};

/// Returns true for flags whose field is in each addressed pool.
bool is_of_pool(const FieldFlag& flag);
/// Returns true for flags of a training pipeline.
bool is_of_pipeline(const FieldFlag& flag);

/// Sets the field of the job; reports an invalid duration as a problem.
void set_field(const GivenField& given, Job& job, Problems& problems);
/// Sets the field of one pool; ignores fields of the job.
void set_field(const GivenField& given, Pool& pool, const std::string& path, Origins& origins);

/// The flags of a job, except packaging. Empty or absent members were not typed.
struct JobFlags {
  Text display_name{};
  /// The name of the job if neither flag nor file has one.
  Text default_display_name{};
  std::vector<PoolFlags> pools{};
  std::vector<GivenField> fields{};  ///< from the flags that set one field each
  std::optional<std::vector<std::string>> command{};
  std::optional<std::vector<std::string>> args{};
  std::vector<std::string> python_package_uris{};
  Pairs labels{};
  Pairs env{};
  KeyFlags kms{};
  FlagValues nfs_mounts{};      ///< `server=...,path=...,mount-point=...`
  FlagValues lustre_mounts{};   ///< `instance-ip=...,volume-handle=...,...`
  Text reservation_affinity{};  ///< `reservation-affinity-type=any`
  FlagValues dns_peerings{};    ///< `domain=...,target-project=...,...`
  bool tune{false};             ///< the command is `tune`
  Text as{};                    ///< `custom-job`, `training-pipeline`; absent: taken from the file
  StudyFlags study{};
  ServingFlags serving{};
  /// `--dockerfile` is given: the pool names neither entry nor dependencies; an executor is
  /// optional.
  bool own_dockerfile{false};
  bool infers{false};  ///< an entry and an executor that no pool names are inferred from the
                       ///< project
  /// Origins of the flags whose value was not typed.
  std::map<std::string, Origin, std::less<>> origins{};

  /// Returns true if the first pool names a directory to package.
  bool packages() const {
    return !pools.empty() && (own_dockerfile || pools.front().local_package_path);
  }

  /// Returns the origin of `flag`'s value.
  Origin origin(std::string_view flag) const {
    const auto found = origins.find(flag);
    return found == origins.end() ? Origin::flag(std::string{flag}) : found->second;
  }
};

}  // namespace autopack::job
