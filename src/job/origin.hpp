#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::job {

/// The source of a value.
struct Origin {
  enum class Kind { flag, variable, file, setting };

  Kind kind{Kind::setting};
  std::string name{};  ///< `--region`, `AUTOPACK_REGION`, a file's name, or a setting in words
  std::optional<int> line{};            ///< line of the file, from 1; absent: the whole file
  std::optional<std::size_t> number{};  ///< index if that place has several values, from 1

  static Origin flag(std::string name) { return {.kind = Kind::flag, .name = std::move(name)}; }

  static Origin variable(std::string name) {
    return {.kind = Kind::variable, .name = std::move(name)};
  }

  static Origin file(std::string name, std::optional<int> line = {}) {
    return {.kind = Kind::file, .name = std::move(name), .line = line};
  }

  /// An origin in another tool's configuration; messages print `words` unchanged.
  static Origin setting(std::string words) {
    return {.kind = Kind::setting, .name = std::move(words)};
  }

  /// Returns true if `flag` was typed.
  bool is_flag(std::string_view flag) const { return kind == Kind::flag && name == flag; }

  friend bool operator==(const Origin&, const Origin&) = default;
};

/// Returns text for messages: "`--worker-pool-spec` number 2", "job.yaml:12".
std::string to_string(const Origin& origin);

/// The same; returns nothing for nothing.
std::optional<std::string> to_string(const std::optional<Origin>& origin);

/// The source of each value of a job, including values that could not be read. Keys are paths such
/// as `jobSpec.workerPoolSpecs[0].replicaCount`.
using Origins = std::map<std::string, Origin, std::less<>>;

}  // namespace autopack::job
