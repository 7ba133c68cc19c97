#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Facts of the service, generated from the text files in src/job/tables.
namespace autopack::job::tables {

enum class Type {
  string,
  int32,
  int64,
  floating,
  boolean,
  duration,
  timestamp,
  string_map,
  any,     ///< any JSON value
  output,  ///< set by the service; of any type
  enumeration,
  message,
};

struct Field {
  std::string_view name;
  Type type;
  bool list;
  bool keyed;  ///< an object whose values have the type
  bool required;
  std::string_view message;                  ///< name of the message when type is message
  std::span<const std::string_view> values;  ///< for an enumeration
  bool open;  ///< the enumeration gets new values: `--skip-checks` accepts unknown ones
};

/// Fields that exclude each other.
struct OneOf {
  std::span<const std::string_view> fields;
};

struct Message {
  std::string_view name;
  std::span<const Field> fields;
  std::span<const OneOf> groups;
};

/// An accelerator and the counts of it that a machine supports.
struct Accelerators {
  std::string_view type;
  std::span<const int> counts;
};

struct Machine {
  std::string_view name;
  std::span<const Accelerators> fixed;  ///< one entry with one count, or empty
  std::span<const Accelerators> attachable;
  bool tpu;
  bool needs_topology;
  bool arm64;
  std::span<const std::string_view> topologies;  ///< for a TPU; empty if unknown
  std::optional<std::string_view> boot_disk;     ///< the required type; absent: any
};

/// An image of the repository vertex-ai/training; dates as `2026-07-11`.
struct PrebuiltImage {
  std::string_view name;
  std::string_view end_of_support;
  std::string_view end_of_availability;
};

std::span<const Message> messages();
std::span<const Machine> machines();
std::span<const std::string_view> regions();
std::span<const PrebuiltImage> prebuilt_images();

/// Returns the message with that name, which must be in the schema.
const Message& message(std::string_view name);
/// Returns null if `message` has no such field.
const Field* find_field(const Message& message, std::string_view name);
/// Returns null if the table has no such machine type.
const Machine* find_machine(std::string_view name);
/// Returns true if `count` accelerators of this type are among `all`.
bool offers(std::span<const Accelerators> all, std::string_view type, std::int64_t count);
/// Returns the values of an enumeration, such as `NVIDIA_TESLA_T4`.
std::span<const std::string_view> accelerator_types();

/// Returns " (did you mean `x`?)", or an empty text if no candidate is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace autopack::job::tables
