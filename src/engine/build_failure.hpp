#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::engine {

/// The failure of a build, as the engine reports it.
struct BuildFailure {
  std::string message{};
  std::optional<std::string> step{};  ///< `[deps 2/3] RUN ...`; absent if no step ran
  std::string last_log{};             ///< the end of the step's output
};

/// The first words of the cause that contains the end of a failing step's log.
inline constexpr std::string_view last_output_cause{"its last output:"};

}  // namespace autopack::engine
