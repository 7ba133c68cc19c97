#include "cli/local_screen.hpp"

#include "base/text.hpp"
#include "cli/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
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

namespace {

constexpr char escape = '\x1b';
constexpr std::size_t longest_sequence = 32;
constexpr std::string_view passing_controls{"\n\r\t\b"};
/// Colours, erasing a line, one line up: the sequences of progress bars.
constexpr std::string_view passing_commands{"mKA"};

bool is_plain(char c) {
  return (c >= ' ' && c <= '~') || passing_controls.find(c) != std::string_view::npos;
}

/// Returns the length of the character that begins with `first`; 1 for invalid bytes.
std::size_t length_reported(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
}

/// Returns the length of the escape sequence or character at the start of `text`; 0 if it is
/// incomplete.
std::size_t next_length(std::string_view text) {
  if (text.front() != escape) {
    const auto length = length_reported(text.front());
    return length <= text.size() ? length : 0;
  }
  if (text.size() == 1) {
    return 0;
  }
  if (text[1] != '[') {
    return 1;
  }
  const auto end = text.find_first_not_of("0123456789;", 2);
  if (end == std::string_view::npos) {
    return text.size() < longest_sequence ? 0 : 1;
  }
  return passing_commands.find(text[end]) != std::string_view::npos ? end + 1 : 1;
}

}  // namespace

std::string TerminalText::take(std::string_view bytes) {
  waiting_ += bytes;
  std::string_view rest{waiting_};
  std::string shown;
  while (!rest.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(rest, is_plain) - rest.begin());
    shown += rest.substr(0, plain);
    rest.remove_prefix(plain);
    const auto length = rest.empty() ? 0 : next_length(rest);
    if (length == 0) {
      break;
    }
    const auto piece = rest.substr(0, length);
    shown += piece.size() > 1 && piece.front() == escape ? std::string{piece} : printable(piece);
    rest.remove_prefix(length);
  }
  waiting_ = std::string{rest};
  return shown;
}

}  // namespace autopack::cli
