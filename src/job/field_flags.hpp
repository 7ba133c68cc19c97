#pragma once

#include "base/error.hpp"
#include "job/job.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// The flags that set one field each. To add a flag, add its row.
namespace autopack::job {

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

}  // namespace autopack::job
