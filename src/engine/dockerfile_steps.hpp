#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::engine {

/// An instruction of a Dockerfile.
struct Instruction {
  int line{0};            ///< its first line, from 1
  std::string keyword{};  ///< upper case
  std::string text{};     ///< with its keyword, continuation lines joined
  int stage{-1};          ///< from 0; -1 before the first FROM
};

/// Returns the instructions of `dockerfile` in order. Supports here-documents and the `escape`
/// directive. Never fails; the result is meaningless if the text is not a Dockerfile.
std::vector<Instruction> instructions_of(std::string_view dockerfile);

/// Returns the instruction for a step's name: BuildKit's `[deps 2/3] RUN x`, Docker's `Step 4/7 :
/// RUN x`, Podman's `[1/2] STEP 2/3: RUN x`. Returns nothing if there is no such step.
std::optional<Instruction> instruction_of_step(std::string_view dockerfile, std::string_view step);

}  // namespace autopack::engine
