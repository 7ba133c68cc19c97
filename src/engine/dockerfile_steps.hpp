#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::engine {

/// One instruction of a Dockerfile.
struct Instruction {
  int line{0};            ///< of its first line, from 1
  std::string keyword{};  ///< upper case
  std::string text{};     ///< with its keyword, continuation lines joined
  int stage{-1};          ///< from 0; -1 before the first FROM
};

/// The instructions of `dockerfile` in order. Here-documents and the `escape` directive are
/// understood; text that is no Dockerfile gives nonsense, never an error.
std::vector<Instruction> instructions_of(std::string_view dockerfile);

/// The instruction that an engine means by a step's name: BuildKit's `[deps 2/3] RUN x`, Docker's
/// `Step 4/7 : RUN x`, Podman's `[1/2] STEP 2/3: RUN x`. None when there is no such step.
std::optional<Instruction> instruction_of_step(std::string_view dockerfile, std::string_view step);

}  // namespace autopack::engine
