#pragma once

#include "base/report.hpp"
#include "engine/json_lines.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::engine {

/// Where a build stopped.
struct BuildFailure {
  std::string message{};              ///< the engine's words
  std::optional<std::string> step{};  ///< `[deps 2/3] RUN ...`; none when no step ran
  std::string last_log{};             ///< the end of the step's output
};

/// What an engine tells while it builds, in either dialect: told on to a Reporter, and summed up.
class BuildProgress {
public:
  /// What a person calls a step, by the engine's name of it.
  using Naming = std::function<std::string(std::string_view step)>;

  /// Steps are told under their own names when there is no `naming`.
  explicit BuildProgress(Reporter* reporter, Naming naming = {});

  /// Bytes of the answer to `POST /build`.
  void feed(std::string_view bytes);
  /// After the last byte.
  void finish();

  /// `sha256:...` of the image; none when none was made.
  const std::optional<std::string>& image_id() const { return image_id_; }

  /// Instructions that were steps of their own, and those of them found in the cache.
  int steps() const;
  int cached_steps() const;

  /// Set when the engine complained.
  const std::optional<BuildFailure>& failure() const { return failure_; }

private:
  struct Step {
    std::string name{};                                  ///< the engine's
    std::string told{};                                  ///< for people
    StepEvent::State state{StepEvent::State::progress};  ///< progress: nothing told yet
    std::string last_log{};
    std::string error{};
  };

  void take(const nlohmann::json& message);
  void take_trace(std::string_view encoded);
  void take_text(std::string_view text);
  void begin_classic_step(std::string_view title);
  void end_classic_step(StepEvent::State state);
  void fail(const std::string& message);
  void log(const std::string& id, std::string_view text);
  void move(const std::string& id, StepEvent::State state, const std::string& reason = {});

  void set_name(Step& step, std::string_view name) const;

  Reporter* reporter_;
  Naming naming_;
  JsonLines lines_;
  std::map<std::string, Step> steps_;
  std::optional<std::string> classic_step_;  ///< id of the classic builder's step that runs
  int classic_count_{0};
  std::optional<std::string> image_id_;
  std::optional<BuildFailure> failure_;
};

}  // namespace autopack::engine
