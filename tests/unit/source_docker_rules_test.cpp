#include "source/docker_rules.hpp"

#include <doctest/doctest.h>

namespace autopack::source_docker_rules_test {

using namespace autopack::source;

namespace {

std::string docker(const std::string& text, const std::string& directory = {}) {
  return docker_rules(GitIgnoreFile{text, ".gitignore", "", 0}, directory);
}

}  // namespace

TEST_CASE("git's patterns in docker's words") {
  CHECK(docker("out/\n/top\n*.log\n!keep.log\na/b\n") ==
        "**/out\ntop\n**/*.log\n!**/keep.log\na/b\n");
  CHECK(docker("*.log\n/x\n", "sub dir") == "sub dir/**/*.log\nsub dir/x\n");
  CHECK(docker("a**b\n/\\#x\n[!a]\n{x}\n") == "**/a*b\n\\#x\n**/[^a]\n**/\\{x\\}\n");
  CHECK(docker("a\t\n\\\tb\nc\\ \n") == "**/a[\t]\n**/[\t]b\n**/c[ ]\n");
  CHECK(docker("\n/\uFEFFx\n!/\uFEFFx\n") == "[\uFEFF]x\n![\uFEFF]x\n");
  // Docker would read these as parts of a regular expression.
  CHECK(docker("\\d\n[\\w*?]x\n[\\]]\n[a\\-z]\na|b^{2}*\n") ==
        "**/d\n**/[w\\*\\?]x\n**/[\\]]\n**/[a\\-z]\n**/a\\|b\\^\\{2\\}*\n");
  // Patterns that docker cannot express.
  CHECK(docker("[[:digit:]]\n[x\na\\\n").empty());
}

TEST_CASE("a path as docker's pattern fits nothing else") {
  for (const std::string path :
       {"a", "#a", "!a", "a*", "[x]", "a\\b", " a ", "{x|y}", "^a", "a\t", "\v\fa", "  a  ",
        "\u00a0a\u3000", "\uFEFFa", "\uFEFF", " \uFEFF a", "a\uFEFF"}) {
    CAPTURE(path);
    IgnoreRules rules;
    rules.add(docker_path(path) + "\n", "x");
    CHECK(rules.excludes(path));
    CHECK_FALSE(rules.excludes("b"));
    CHECK_FALSE(rules.excludes("x"));
  }
}

}  // namespace autopack::source_docker_rules_test
