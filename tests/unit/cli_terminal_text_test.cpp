#include "cli/local_screen.hpp"

#include <doctest/doctest.h>

namespace autopack::cli_terminal_text_test {

using cli::TerminalText;

TEST_CASE("a program's output reaches a terminal without commands to it") {
  struct Row {
    const char* given;
    const char* shown;
  };

  for (const auto& row : {
           Row{"loss 0.5\n", "loss 0.5\n"},
           Row{"\r 10%|#  |\r 20%|## |\x1b[K", "\r 10%|#  |\r 20%|## |\x1b[K"},
           Row{"\x1b[1;31mred\x1b[0m\x1b[A", "\x1b[1;31mred\x1b[0m\x1b[A"},
           Row{"Zürich → 東京", "Zürich → 東京"},
           Row{"\x1b]0;title\x07.", "\\x1b]0;title\\x07."},
           Row{"\x1b]52;c;ZXZpbA==\x07.", "\\x1b]52;c;ZXZpbA==\\x07."},
           Row{"\x1b[2J\x1b[H.", "\\x1b[2J\\x1b[H."},
           Row{"\x1b[?1049h", "\\x1b[?1049h"},
           Row{"\xc2\x9b"
               "2J",
               "\\xc2\\x9b2J"},
           Row{"\x9b"
               "2J",
               "\\x9b2J"},
           Row{"\x1b\x1b[m", "\\x1b\x1b[m"},
       }) {
    CAPTURE(row.given);
    CHECK(TerminalText{}.take(row.given) == row.shown);
    TerminalText pieces;
    std::string shown;
    for (const char c : std::string{row.given}) {
      shown += pieces.take(std::string_view{&c, 1});
    }
    CHECK(shown == row.shown);
  }
}

TEST_CASE("a sequence that does not end is shown as text") {
  TerminalText text;
  CHECK(text.take("\x1b[").empty());
  const std::string digits(40, '1');
  CHECK(text.take(digits) == "\\x1b[" + digits);
}

}  // namespace autopack::cli_terminal_text_test
