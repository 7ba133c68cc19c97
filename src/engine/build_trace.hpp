#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::engine {

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
