#pragma once

#include "base/report.hpp"
#include "engine/build_failure.hpp"
#include "engine/json_lines.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::engine {

/// Parses the progress of a build in either dialect, reports it to a Reporter, and sums it up.
class BuildProgress {
public:
  /// Maps the engine's name of a step to a name for people.
  using Naming = std::function<std::string(std::string_view step)>;

  /// Without `naming`, steps keep the engine's names.
  explicit BuildProgress(Reporter* reporter, Naming naming = {});

  /// Accepts bytes of the response to `POST /build`.
  void feed(std::string_view bytes);
  /// Call after the last byte.
  void finish();

  /// Returns `sha256:...` of the image; nothing if none was built.
  const std::optional<std::string>& image_id() const { return image_id_; }

  /// Return the number of instructions that were steps, and of those found in the cache.
  int steps() const;
  int cached_steps() const;

  /// Returns the engine's failure, if any.
  const std::optional<BuildFailure>& failure() const { return failure_; }

private:
  struct Step {
    std::string name{};                                  ///< the engine's
    std::string reported{};                              ///< for people
    StepEvent::State state{StepEvent::State::progress};  ///< progress: nothing reported yet
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
  std::optional<std::string> classic_step_;  ///< id of the classic builder's current step
  int classic_count_{0};
  std::optional<std::string> image_id_;
  std::optional<BuildFailure> failure_;
};

/// A record of BuildKit's progress: `moby.buildkit.v1.StatusResponse` of its control.proto.
struct BuildTrace {
  /// A step of the build.
  struct Vertex {
    std::string digest{};
    std::string name{};
    bool cached{false};
    bool started{false};
    bool completed{false};
    std::string error{};
  };

  /// The progress of an item inside a step: a download, an export.
  struct Status {
    std::string id{};
    std::string vertex{};
    std::uint64_t current{0};
    std::uint64_t total{0};
  };

  /// Output of a step.
  struct Log {
    std::string vertex{};
    std::string text{};
  };

  std::vector<Vertex> vertices{};
  std::vector<Status> statuses{};
  std::vector<Log> logs{};

  /// Returns nothing if `bytes` is not a well-formed protobuf message. Skips unknown fields.
  static std::optional<BuildTrace> decode(std::string_view bytes);
};

}  // namespace autopack::engine
