#pragma once

#include "base/error.hpp"
#include "job/origin.hpp"
#include "job/tables.hpp"

#include <nlohmann/json_fwd.hpp>
#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>
#include <vector>

namespace autopack::job {

/// Returns `bootDiskSizeGb` for `boot_disk_size_gb`; other text unchanged.
std::string camel_case(std::string_view name);

/// Reads YAML nodes by the schema; reports everything that does not match as a problem with its
/// line.
class ConfigReader {
public:
  /// Reads the file `name`, and records the place of each value in `origins`.
  ConfigReader(std::string name, Origins& origins, Problems& problems)
      : name_{std::move(name)}, origins_{origins}, problems_{problems} {}

  /// `path` is the message's path in a CustomJob.
  nlohmann::json read_message(const YAML::Node& node,
                              const tables::Message& message,
                              const std::string& path);

  void fault(const YAML::Node& node, std::string text, std::vector<std::string> hints = {});

  /// Omits `prefix` from the paths in messages, so that they match the file.
  void hide_prefix(std::string prefix) { hidden_ = std::move(prefix); }

private:
  Origin origin_of(const YAML::Node& node) const;
  std::string shown(std::string_view path) const;
  nlohmann::json read_value(const YAML::Node& node,
                            const tables::Field& field,
                            const std::string& path);
  nlohmann::json read_list(const YAML::Node& node,
                           const tables::Field& field,
                           const std::string& path);
  nlohmann::json read_scalar(const YAML::Node& node,
                             const tables::Field& field,
                             const std::string& path);
  nlohmann::json read_number(const YAML::Node& node, tables::Type type, const std::string& path);
  nlohmann::json read_floating(const YAML::Node& node, const std::string& path);
  nlohmann::json read_enumeration(const YAML::Node& node,
                                  const tables::Field& field,
                                  const std::string& path);
  nlohmann::json read_map(const YAML::Node& node, const std::string& path);
  nlohmann::json read_keyed(const YAML::Node& node,
                            const tables::Field& field,
                            const std::string& path);
  nlohmann::json read_any(const YAML::Node& node, const std::string& path);
  void count_value();
  const tables::Field* known_field(const YAML::Node& key,
                                   const tables::Message& message,
                                   const std::string& path);
  void mismatch(const YAML::Node& node, std::string_view wanted, const std::string& path);

  std::string name_;
  Origins& origins_;
  Problems& problems_;
  std::string hidden_{};
  std::size_t values_{0};
};

}  // namespace autopack::job
