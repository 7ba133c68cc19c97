#pragma once

#include "cli/command.hpp"
#include "local/job_watcher.hpp"

#include <string>
#include <string_view>

namespace autopack::cli {

/// Shows the output of replicas on standard error: whole lines after their coloured names; on a
/// terminal, also the current status of each below.
local::Screen local_screen(Session& session);

/// Sanitizes a program's output for a terminal. Keeps lines, colours and the sequences of progress
/// bars; every other control sequence (title, clipboard, clearing the screen) becomes visible text.
class TerminalText {
public:
  /// Returns the printable part of `bytes`, which may be cut anywhere: the beginning of a sequence
  /// or character waits for its end.
  std::string take(std::string_view bytes);

private:
  std::string waiting_{};
};

}  // namespace autopack::cli
