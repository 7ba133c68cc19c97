#include "state/syntax_verdicts.hpp"

#include <doctest/doctest.h>

namespace autopack::state_syntax_verdicts_test {

using state::SyntaxVerdict;
using state::SyntaxVerdicts;

TEST_CASE("a Python's verdict about a file is cached by content and version") {
  const ContentHash a = sha256("a");
  const ContentHash b = sha256("b");
  SyntaxVerdicts first;
  CHECK_FALSE(first.text_to_save());
  CHECK_FALSE(first.of(a, "3.11"));
  const SyntaxVerdict fault{.python = "3.13", .line = 7, .message = "invalid syntax here"};
  first.add(a, "3.11", fault);
  first.add(b, "3.11", {});
  first.set_python({.path = "/usr/bin/my python3", .changed_ns = 5, .size = 6, .version = "3.13"});
  const auto text = first.text_to_save();
  REQUIRE(text);

  SyntaxVerdicts second{*text};
  CHECK(second.of(a, "3.11") == fault);
  CHECK_FALSE(second.of(a, "3.12"));
  CHECK(second.of(b, "3.11") == SyntaxVerdict{});
  CHECK(second.python() == first.python());
  CHECK_FALSE(second.text_to_save());  // nothing is new
  second.add(a, "3.12", {.python = "3.13"});
  SyntaxVerdicts third{second.text_to_save().value()};
  CHECK(third.of(a, "3.12") == SyntaxVerdict{.python = "3.13"});

  SyntaxVerdicts unused{*text};
  unused.add(a, "3.12", {});
  CHECK_FALSE(SyntaxVerdicts{unused.text_to_save().value()}.of(b, "3.11"));  // it is in no project

  for (const auto& damaged :
       {text->substr(1), std::string{"autopack-syntax-01\nx"}, std::string(100, 'x')}) {
    CHECK_FALSE(SyntaxVerdicts{damaged}.of(a, "3.11"));
  }
}

}  // namespace autopack::state_syntax_verdicts_test
