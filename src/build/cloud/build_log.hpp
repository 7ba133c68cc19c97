#pragma once

#include "base/report.hpp"
#include "engine/build_failure.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::build {

/// The log of a build in Cloud Build: reports the steps of BuildKit in it, and keeps what an error
/// needs.
class CloudLog {
public:
  /// Returns the name for people of BuildKit's step.
  using Naming = std::function<std::string(std::string_view step)>;

  CloudLog(Reporter& reporter, Naming naming) : reporter_{reporter}, naming_{std::move(naming)} {}

  /// Takes the next bytes of the log.
  void feed(std::string_view bytes);
  /// Takes an unfinished last line.
  void finish();

  /// Returns true if the log has its last line.
  bool is_whole() const { return is_whole_; }

  /// Returns the failed step; nothing if the log names none.
  const std::optional<engine::BuildFailure>& failure() const { return failure_; }

  /// Returns the last lines of all steps, at most 20.
  std::string last_lines() const;

private:
  struct Step {
    std::string name{};
    std::string reported{};
    std::string last_log{};
    bool is_ended{false};
  };

  void take(std::string_view line);
  void take_step(const std::string& id, std::string_view text);
  void end(const std::string& id, StepEvent::State state, std::string reason = {});
  void log(const std::string& id, std::string_view text);

  Reporter& reporter_;
  Naming naming_;
  std::string rest_{};
  std::vector<std::string> lines_{};
  std::map<std::string, Step> steps_{};
  std::optional<engine::BuildFailure> failure_{};
  bool is_whole_{false};
};

}  // namespace autopack::build
