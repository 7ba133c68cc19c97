#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::job {

/// Where a value came from.
struct Origin {
  enum class Kind { flag, variable, file, setting };

  Kind kind{Kind::setting};
  std::string name{};         ///< `--region`, `AUTOPACK_REGION`, the file's, or a setting in words
  std::optional<int> line{};  ///< of the file, from 1; none: the file as a whole
  std::optional<std::size_t> number{};  ///< of several values in that place, from 1

  static Origin flag(std::string name) { return {.kind = Kind::flag, .name = std::move(name)}; }

  static Origin variable(std::string name) {
    return {.kind = Kind::variable, .name = std::move(name)};
  }

  static Origin file(std::string name, std::optional<int> line = {}) {
    return {.kind = Kind::file, .name = std::move(name), .line = line};
  }

  /// One that another tool's configuration names, in words that are told as they are.
  static Origin setting(std::string words) {
    return {.kind = Kind::setting, .name = std::move(words)};
  }

  /// True when `flag` was typed.
  bool is_flag(std::string_view flag) const { return kind == Kind::flag && name == flag; }

  friend bool operator==(const Origin&, const Origin&) = default;
};

/// For messages: "`--worker-pool-spec` number 2", "job.yaml:12".
std::string to_string(const Origin& origin);

/// The same; none for none.
std::optional<std::string> to_string(const std::optional<Origin>& origin);

/// Where each value of a job came from, also one that could not be read; keys are paths such as
/// `jobSpec.workerPoolSpecs[0].replicaCount`.
using Origins = std::map<std::string, Origin, std::less<>>;

}  // namespace autopack::job
