#include "source/git_ignore_file.hpp"
#include "source/git_pattern.hpp"

#include <doctest/doctest.h>

namespace autopack::source_git_pattern_test {

using autopack::source::GitIgnoreFile;
using autopack::source::GitPattern;
using autopack::source::literal_pattern;

TEST_CASE("git's patterns match as gitignore(5) says") {
  struct Case {
    const char* pattern;
    const char* path;
    bool matches;
  };

  // The results of `git check-ignore`.
  for (const Case& one : {
           Case{"a", "a", true},
           Case{"a", "x/a", true},
           Case{"a", "ab", false},
           Case{"/a", "a", true},
           Case{"/a", "x/a", false},
           Case{"x/a", "x/a", true},
           Case{"x/a", "y/x/a", false},
           Case{"*.py", "x/a.py", true},
           Case{"x/*.py", "x/a.py", true},
           Case{"x/*.py", "x/y/a.py", false},
           Case{"**/a", "a", true},
           Case{"**/a", "x/y/a", true},
           Case{"a/**", "a/b/c", true},
           Case{"a/**", "a", false},
           Case{"a/**/b", "a/b", true},
           Case{"a/**/b", "a/x/y/b", true},
           Case{"**/a/b", "a/b", true},
           Case{"**/a/b", "x/y/a/b", true},
           Case{"**/a/b", "xa/b", false},
           Case{"**/a/b", "a/b/c", false},
           Case{"**/a/*", "x/a/b", true},
           Case{"**/a/*", "x/b/a", false},
           Case{"**/a/**", "x/a/b", true},
           Case{"x/**/a/b*c", "x/a/bxc", true},
           Case{"a**b", "axb", true},
           Case{"x/a**b", "x/a/b", false},
           Case{"?", "a", true},
           Case{"a?b", "a/b", false},
           Case{"[a-c]", "b", true},
           Case{"[!a]", "b", true},
           Case{"[^a]", "a", false},
           Case{"[]x]", "]", true},
           Case{"[[:digit:]]", "7", true},
           Case{"[[:digit:]]", "a", false},
           Case{"\\#a", "#a", true},
           Case{"\\!a", "!a", true},
           Case{"a\\*", "a*", true},
           Case{"a\\*", "ab", false},
           Case{"a ", "a", true},
           Case{"a\\ ", "a ", true},
           Case{"a\r", "a", true},
           Case{"[a", "[a", false},
           Case{"a\\", "a", false},
           Case{"/", "a", false},
           Case{"***/a", "x/a", true},
           Case{"*a*b*c", "xaybzc", true},
           Case{"/a**", "a", true},
           Case{"a**/**", "a", true},
           Case{"*/a**", "x/a", true},
           Case{"x/[a]**", "x/a/b", false},
           Case{"**/a?", "a/\xC3\xA9", false},
           Case{"a[^/]b", "a/b", false},
       }) {
    CAPTURE(one.pattern);
    CAPTURE(one.path);
    CHECK(GitPattern::parse(one.pattern)->matches(one.path, false) == one.matches);
  }
  for (const std::string path : {"a", "#a", "!a", "*", "[x]?", "a\\b", " a ", "b/a"}) {
    CAPTURE(path);
    const auto pattern = GitPattern::parse(literal_pattern(path));
    CHECK(pattern->matches(path, false));
    CHECK_FALSE(pattern->matches("x/" + path, false));
    CHECK_FALSE(pattern->matches("x", false));
  }
  CHECK_FALSE(GitPattern::parse("# a"));
  CHECK_FALSE(GitPattern::parse("  "));
  CHECK_FALSE(GitPattern::parse("a/")->matches("a", false));
  CHECK(GitPattern::parse("a/")->matches("x/a", true));
  CHECK(GitPattern::parse("!a")->is_exception());
}

TEST_CASE("git's patterns match letters of either case where core.ignorecase says so") {
  struct Case {
    const char* pattern;
    const char* path;
    bool matches;
  };

  // The results of `git -c core.ignorecase=true check-ignore`.
  for (const Case& one : {
           Case{"OUT", "out", true},
           Case{"out", "x/OUT", true},
           Case{"*.PY", "a.py", true},
           Case{"*.py", "A.PY", true},
           Case{"/Data/*", "data/a", true},
           Case{"data/[a-c]", "DATA/B", true},
           Case{"[A-C]", "b", true},
           Case{"[A-C]", "B", true},
           Case{"[B]", "b", false},
           Case{"[B]", "B", false},
           Case{"[b]", "B", true},
           Case{"[[:upper:]]", "b", true},
           Case{"[[:lower:]]", "B", true},
           Case{"\\B", "B", false},
           Case{"\\b", "B", true},
           Case{"a*\\B", "ab", false},
           Case{"\xC3\x84", "\xC3\xA4", false},
           Case{"[!b]", "B", false},
       }) {
    CAPTURE(one.pattern);
    CAPTURE(one.path);
    const auto pattern = GitPattern::parse(one.pattern, autopack::source::Letters::either_case);
    CHECK(pattern->matches(one.path, false) == one.matches);
  }
}

TEST_CASE("a pattern with many wildcards costs no more than both lengths together") {
  std::string pattern;
  for (int i = 0; i < 100; ++i) {
    pattern += "*a**/";
  }
  const std::string path(4000, 'a');
  CHECK_FALSE(GitPattern::parse(pattern + "b")->matches(path, false));
}

TEST_CASE("the last pattern of a file decides, relative to the file's directory") {
  const GitIgnoreFile file{"# all\n*.bin\n!keep.bin\n/top\n", "x/.gitignore", "", 2};
  using Decision = GitIgnoreFile::Decision;
  CHECK(file.decide("x/a.bin", false).rule->line == 2);
  CHECK(file.decide("x/y/keep.bin", false).decision == Decision::in);
  CHECK(file.decide("x/top", true).decision == Decision::out);
  CHECK(file.decide("x/y/top", true).decision == Decision::none);
  const GitIgnoreFile above{"out/\na/b/c\n", "../.gitignore", "a/", 0};
  CHECK(above.decide("out", true).decision == Decision::out);
  CHECK(above.decide("b/c", false).rule->pattern == "a/b/c");
}

}  // namespace autopack::source_git_pattern_test
