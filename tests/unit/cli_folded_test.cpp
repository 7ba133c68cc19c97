#include "cli/folded.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::cli_folded_test {

using autopack::cli::folded;
using autopack::cli::with_short_digests;

namespace {

struct Row {
  const char* name;
  std::string text;
  std::string shown;  // on 30 columns
};

}  // namespace

TEST_CASE("lines that are too long for a terminal go on below their text") {
  const std::vector<Row> rows{
      {"one that fits", "   Scanned  1 file, 195 B\n", "   Scanned  1 file, 195 B\n"},
      {"a verb", "   Planned  rebuilt because a.py changed\n",
       "   Planned  rebuilt because\n            a.py changed\n"},
      {"a verb with a colour", "\x1b[1;32m   Planned\x1b[0m  rebuilt because a.py changed\n",
       "\x1b[1;32m   Planned\x1b[0m  rebuilt because\n            a.py changed\n"},
      {"a row with a name", "image   rebuilt because it is gone\nkeys    one\n",
       "image   rebuilt because it is\n        gone\nkeys    one\n"},
      {"a message", "error: several programs could be meant\n",
       "error: several programs could\n  be meant\n"},
      {"a cause", "  caused by: several programs could be meant\n",
       "  caused by: several programs\n    could be meant\n"},
      {"a hint, which is pasted", "\x1b[1;36mhint:\x1b[0m autopack build --script=train.py\n",
       "\x1b[1;36mhint:\x1b[0m autopack build --script=train.py\n"},
      {"a hint in prose", "hint: `--script FILE` or `--command WORD,...` does\n",
       "hint: `--script FILE` or\n  `--command WORD,...` does\n"},
      {"a command at the end of a hint", "hint: log in: gcloud auth application-default login\n",
       "hint: log in: gcloud auth application-default login\n"},
      {"the second line of a hint", "hint: echo 1 \\\n  >> a-file-with-a-long-name and more\n",
       "hint: echo 1 \\\n  >> a-file-with-a-long-name and more\n"},
      {"what follows a hint", "  hint: one\nerror: several programs could be meant\n",
       "  hint: one\nerror: several programs could\n  be meant\n"},
      {"a word that fits nowhere", "error: /a/path/that/is/longer/than/the/terminal is there\n",
       "error:\n  /a/path/that/is/longer/than/the/terminal\n  is there\n"},
      {"characters of several bytes",
       "error: \u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4 "
       "\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\n",
       "error: \u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4 "
       "\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\n"},
      {"no line feed at the end", "error: several programs could be meant",
       "error: several programs could\n  be meant"},
      {"nothing", "", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(folded(row.text, 30) == row.shown);
  }
}

TEST_CASE("a digest is cut to what people compare, and nothing else is") {
  const std::string digits(64, 'a');
  CHECK(with_short_digests("a sha256:" + digits + " b") == "a sha256:aaaaaaaaaaaa... b");
  CHECK(with_short_digests("x@sha256:" + digits + "\nsha256:" + digits) ==
        "x@sha256:aaaaaaaaaaaa...\nsha256:aaaaaaaaaaaa...");
  CHECK(with_short_digests("sha256:" + std::string(63, 'a')) == "sha256:" + std::string(63, 'a'));
  CHECK(with_short_digests("sha256: no digest") == "sha256: no digest");
}

}  // namespace autopack::cli_folded_test
