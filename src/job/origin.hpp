#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace autopack::job {

/// Where a value came from.
struct Origin {
  enum class Kind { flag, variable, file, setting };

  Kind kind{Kind::setting};
  std::string name{};     ///< `--region`, `AUTOPACK_REGION`, the file's, or a setting in words
  int line{0};            ///< of the file, from 1; 0: the file as a whole
  std::size_t number{0};  ///< of several values in that place, from 1; 0: the only one

  static Origin flag(std::string name) { return {.kind = Kind::flag, .name = std::move(name)}; }

  static Origin variable(std::string name) {
    return {.kind = Kind::variable, .name = std::move(name)};
  }

  static Origin file(std::string name, int line = 0) {
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

/// For messages: "`--worker-pool-spec` number 2", "`job.yaml` line 12".
std::string to_string(const Origin& origin);

/// Where each value of a job came from, also one that could not be read; keys are paths such as
/// `jobSpec.workerPoolSpecs[0].replicaCount`.
using Origins = std::map<std::string, Origin, std::less<>>;

}  // namespace autopack::job
