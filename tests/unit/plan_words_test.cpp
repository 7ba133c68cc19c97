#include "plan/words.hpp"

#include <doctest/doctest.h>

namespace autopack::plan_words_test {

using namespace autopack::plan;

TEST_CASE("plan: COPY's words name exactly one path whatever is in it") {
  CHECK(copy_words({"trainer"}, "trainer") == R"(["trainer", "trainer"])");
  CHECK(copy_words({"a b"}, "a b") == R"(["a b", "a b"])");
  CHECK(copy_words({"it's"}, "it's") == R"(["it\\'s", "it\\'s"])");
  CHECK(copy_words({"$HOME"}, "$HOME") == R"(["\\$HOME", "\\$HOME"])");
  CHECK(copy_words({"q\"q"}, "q\"q") == R"(["q\\\"q", "q\\\"q"])");
  CHECK(copy_words({"a\\b"}, "a\\b") == R"(["a\\\\b", "a\\\\b"])");
  CHECK(copy_words({"*[?]"}, "*[?]") == R"(["[*][[][?]]", "*[?]"])");
  CHECK(copy_words({"s\\*"}, "s\\*") == R"(["s\\\\\\\\[*]", "s\\\\*"])");
  CHECK(copy_words({"a", "b"}, "x/") == R"(["a", "b", "x/"])");
}

TEST_CASE("plan: ENTRYPOINT's words are plain JSON") {
  CHECK(json_words({"python3", "-m", "a.b"}) == R"(["python3", "-m", "a.b"])");
  CHECK(json_words({"/bin/bash", "$x 'y\".sh"}) == R"(["/bin/bash", "$x 'y\".sh"])");
  CHECK(json_words({"ü"}) == R"(["ü"])");
}

TEST_CASE("plan: text with control characters or broken UTF-8 does not fit a Dockerfile") {
  CHECK(fits_dockerfile("héllo *"));
  CHECK_FALSE(fits_dockerfile("a\nRUN evil"));
  CHECK_FALSE(fits_dockerfile("a\rb"));
  CHECK_FALSE(fits_dockerfile("\xff"));
}

TEST_CASE("plan: a script becomes one quoted word per line") {
  const auto lines = quoted_lines("a = 'x'\n\n# c\n");
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == R"('a = '"'"'x'"'"'')");
  CHECK(lines[1] == "''");
  CHECK(lines[2] == "'# c'");
}

TEST_CASE("plan: an edit of lines is an expression of sed") {
  CHECK(sed_expression(3, 3, "") == "3d");
  CHECK(sed_expression(3, 5, "") == "3,5d");
  CHECK(sed_expression(3, 4, "./lib") == "3,4c\\./lib");
  CHECK(sed_expression(1, 1, "a\\b") == "1c\\a\\\\b");
}

}  // namespace autopack::plan_words_test
