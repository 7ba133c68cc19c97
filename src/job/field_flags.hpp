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

/// The flags that set one field each. To add one, add its row.
namespace autopack::job {

/// What stands together in the help of a command.
enum class FlagGroup { places, limits, machines, network, records, model, version, data };

/// Where the value of a flag goes; parts on the way are made.
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

/// Of each pool that the flags address.
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
  std::optional<std::string_view> label;  ///< `NAME`; none for a switch
  std::string_view help;
  std::string_view path;  ///< `jobSpec.network`; of a pool's field below the pool
  FieldPlace place;
};

/// In the order of the help.
std::span<const FieldFlag> field_flags();
/// The row of `flag`; null when it sets no single field.
const FieldFlag* find_field_flag(std::string_view flag);

/// What a flag was given: text, `true` or `false`, a number, or a list's elements.
using FieldValue = std::variant<std::string, bool, std::int64_t, std::vector<std::string>>;

struct GivenField {
  const FieldFlag* flag{nullptr};
  FieldValue value{};
  Origin origin{};
};

/// True for the flags whose field each addressed pool has.
bool is_of_pool(const FieldFlag& flag);
/// True for the flags of a training pipeline.
bool is_of_pipeline(const FieldFlag& flag);

/// Sets the field of the job; a duration that is none becomes a problem.
void set_field(const GivenField& given, Job& job, Problems& problems);
/// Sets the field of one pool; fields of the job are passed over.
void set_field(const GivenField& given, Pool& pool, const std::string& path, Origins& origins);

}  // namespace autopack::job
