#include "cli/local_screen.hpp"

#include "cli/steps.hpp"
#include "cli/terminal_text.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace autopack::cli {

namespace {

/// Gives each replica a colour, in order of appearance.
class ReplicaLines {
public:
  explicit ReplicaLines(Paint paint) : paint_{paint} {}

  std::string render(std::string_view replica, std::string_view text) {
    const std::lock_guard lock{mutex_};
    const std::string name{replica};
    const auto number = numbers_.try_emplace(name, numbers_.size()).first->second;
    return fmt::format("{} | {}", paint_.one_of_many(number, name), harmless_lines(text));
  }

private:
  Paint paint_;
  std::mutex mutex_;
  std::map<std::string, std::size_t> numbers_{};
};

/// The output of a job's only replica, whose streams are read by several threads.
class OwnLines {
public:
  std::string render(std::string_view text) {
    const std::lock_guard lock{mutex_};
    return text_.take(text);
  }

private:
  std::mutex mutex_;
  TerminalText text_{};
};

}  // namespace

local::Screen local_screen(Session& session) {
  auto& console = session.console;
  const auto lines = std::make_shared<ReplicaLines>(console.error_paint());
  local::Screen screen;
  const auto own = std::make_shared<OwnLines>();
  screen.log = [&console, lines, own](std::optional<std::string_view> replica,
                                      std::string_view text) {
    if (replica) {
      console.program_errors(lines->render(*replica, text));
    } else {
      // A file gets the program's bytes unchanged.
      const bool is_terminal = console.streams().errors_are_terminal;
      console.program_errors(is_terminal ? own->render(text) : std::string{text});
    }
  };
  if (console.is_live()) {
    screen.live = [&console](const std::string& replica, const std::optional<std::string>& line) {
      console.step({.id = replica,
                    .name = replica + ": " + line.value_or(""),
                    .state = line ? StepEvent::State::started : StepEvent::State::cached});
    };
  }
  return screen;
}

}  // namespace autopack::cli
