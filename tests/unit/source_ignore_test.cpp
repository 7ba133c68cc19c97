#include "base/error.hpp"
#include "source/ignore.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace autopack::source_ignore_test {

using namespace autopack::source;

namespace {

/// The paths of `paths` that `text` excludes, each followed by a space.
std::string excluded(const std::string& text, const std::vector<std::string>& paths) {
  IgnoreRules rules;
  rules.add(text, ".dockerignore");
  std::string result;
  for (const auto& path : paths) {
    if (rules.excludes(path)) {
      result += path + " ";
    }
  }
  return result;
}

Problems problems_of(const std::string& text) {
  IgnoreRules rules;
  try {
    rules.add(text, ".dockerignore");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::project);
    return error.problems();
  }
  return {};
}

IgnoreRules defaults_and(const std::string& text) {
  auto rules = IgnoreRules::defaults();
  rules.add(text, ".dockerignore");
  return rules;
}

}  // namespace

TEST_CASE("one pattern matches as docker matches it") {
  struct Case {
    const char* pattern;
    const char* path;
    bool excluded;
  };

  // Each line was put to moby/patternmatcher (5a6d842) itself.
  static const std::vector<Case> cases{
      {"a", "a", true},
      {"a", "a/b/c", true},
      {"a", "b/a", false},
      {"/a", "a", true},
      {"//a", "a", true},
      {"a/", "a", true},
      {"a/", "a/b", true},
      {"./a", "a", true},
      {"b/../a", "a", true},
      {"  a  ", "a", true},
      {"\xC2\xA0 a\xE3\x80\x80", "a", true},
      {"a b", "a b", true},
      {"*", "a/b", true},
      {"*", ".a", true},
      {"*/b", "a/b", true},
      {"*/b", "b", false},
      {"*/b", "x/a/b", false},
      {"*/b", "a/b/c", true},
      {"a*", "ab/c", true},
      {"a*c", "a/c", false},
      {"**", "a/b", true},
      {"**", "a", true},
      {"**/", "a", true},
      {"**/a", "a", true},
      {"**/a", "x/y/a", true},
      {"**/a", "x/ba", false},
      {"**/a", "x/a/b", true},
      {"**/a/b", "x/a/b", true},
      {"**a", "x/ba", true},
      {"**/*.py", "a.py", true},
      {"**/*.py", "x/y/a.py", true},
      {"**/*.py", "x/.py", true},
      {"a/**", "a", false},
      {"a/**", "a/b", true},
      {"a/**", "a/b/c", true},
      {"a/**/b", "a/b", true},
      {"a/**/b", "a/x/y/b", true},
      {"a/**/b", "a/xb", false},
      {"a**", "ab/c", true},
      {"a**/b", "ax/y/b", true},
      {"**/a/**", "a/b", true},
      {"**/a/**", "x/a/b/c", true},
      {"**/a/**", "x/a", false},
      {"***", "a", true},
      {"****", "a/b", true},
      {"a?c", "abc", true},
      {"a?c", "a/c", false},
      {"a?c",
       "a\xC3\xA9"
       "c",
       true},
      {"a??c",
       "a\xC3\xA9"
       "c",
       false},
      {"[ab]", "b", true},
      {"[^ab]", "c", true},
      {"[^ab]", "b", false},
      {"a[^b]c", "a/c", true},
      {"[a-c]x", "bx", true},
      {"[a-\xCE\xB6]*", "\xCE\xB1", true},
      {"[!a]", "!", true},
      {"[!a]", "b", false},
      {"[\\]a]", "]", true},
      {"[a\\-z]", "-", true},
      {"[[:digit:]]", "7", true},
      {"\\*", "*", true},
      {"\\*", "a", false},
      {"a\\*b", "a*b", true},
      {"\\!a", "!a", true},
      {"\\#a", "#a", true},
      {" #a", "#a", true},
      {"a.py", "axpy", false},
      {"*.py", "axpy", false},
      {"a+b*", "a+bc", true},
      {"a(b)$*", "a(b)$c", true},
      {"dist/*.whl", "dist/x-2.4+g0-py3.whl", true},
      {"caf\xC3\xA9", "caf\xC3\xA9", true},
      {"\xFF*", "\xFE", true},
      {"*a", "x\na", true},
      {"**/a*", "x\ny/a", false},
      {".", "a", false},
      {"/", "a", false},
      {"../a", "a", false},
      {"a*b**", "xb", false},
      {"*a**", "x\nya/b", true},
      {"*a**", "xa\n", false},
      {"a**b", "axb", false},
      {"a**b", "ax/b", true},
      {"**/a/**/b*", "a/b", true},
      {"**/a/**/b*", "x/a\n/y/b", false},
      {"[[:alpha:]\xC3\xA9]", "\xC3\xA9", true},
      {"[^\xC3\xA9]", "\xCE\xB1", true},
      {"?\xCE\xB1", "\xFF\xCE\xB1", true},
      {"x]*", "x]y", true},
      {"[.+()$]*", "+", true},
      {"[|^{}]*", "{", true},
      {R"([a\]\*\?])", "?", true},
      {"\xEF\xBB\xBF*", "a", true},
      // Docker compiles a pattern to a regular expression, but it escapes or does not compile
      // these.
      {"*.{py,txt}", "a.py", false},
      {"*.{py,txt}", "a.{py,txt}", true},
      {"{{cookiecutter.name}}/*", "{{cookiecutter.name}}/x", true},
      {"a{2}", "a{2}", true},
      {"**/a{2}", "x/a{2}", true},
      {"a|b", "a|b", true},
      {"a|b/**", "a|b/c", true},
      {"x^", "x^", true},
      {"a\\|b*", "a|bc", true},
      {"a\\{2}*", "a{2}b", true},
      {"x\\^*", "x^y", true},
      {"\\_*", "_a", true},
  };
  for (const auto& [pattern, path, expected] : cases) {
    const auto& shown = pattern;
    CAPTURE(shown);
    const auto& shown_path = path;
    CAPTURE(shown_path);
    CHECK(excluded(pattern, {path}).empty() != expected);
  }
}

TEST_CASE("the end of a pattern rules a path out only where it is plain") {
  CHECK_FALSE(excluded("a\\|*", {"a|c"}).empty());
  CHECK_FALSE(excluded("*.[c]", {"x.c"}).empty());
  CHECK_FALSE(excluded("*\\.c", {"x.c"}).empty());
  CHECK_FALSE(excluded("*.pyc", {"a.pyc"}).empty());
  CHECK(excluded("*.pyc", {"a.py"}).empty());
  CHECK_FALSE(excluded("*c", {"abc/d"}).empty());
  CHECK_FALSE(excluded("*c\n!*d", {"abc/e"}).empty());
}

TEST_CASE("the last match wins and a match holds for all below") {
  CHECK(excluded("a\n!a/b\n", {"a", "a/b", "a/b/c", "a/c"}) == "a a/c ");
  CHECK(excluded("a\n!a/b\na/b/c\n", {"a/b", "a/b/c", "a/b/c/d"}) == "a/b/c a/b/c/d ");
  CHECK(excluded("*\n!*.py\n", {"a.py", "d/a.py", "d"}) == "d/a.py d ");
  CHECK(excluded("*\n!**/*.py\n", {"a.py", "d/e/a.py", "d"}) == "d ");
  CHECK(excluded("!a\na\n", {"a"}) == "a ");
  CHECK(excluded("**\n!util/docker/web\n", {"util/docker/web/foo", "util/docker"}) ==
        "util/docker ");
  // A pattern that could change nothing at a directory is not asked there, as in docker's walk.
  CHECK(excluded("*/x\n!d\n", {"d", "d/x", "d/y"}) == "d/x ");
}

TEST_CASE("an ignore file is read line by line as docker reads it") {
  CHECK(excluded("\xEF\xBB\xBF"
                 "a\nb",
                 {"a", "b"}) == "a b ");
  CHECK(excluded("\xEF\xBB\xBF# a comment\r\na\r\n\r\nb\r\n", {"a", "b", "#"}) == "a b ");
  CHECK(excluded("#a\n", {"#a"}).empty());
  CHECK(excluded("a\n! a/b\n", {"a/b", "a/c"}) == "a/c ");
  CHECK(excluded("a\n!/a/b/\n", {"a/b", "a/c"}) == "a/c ");
  CHECK(excluded("", {"a"}).empty());
}

TEST_CASE("the deciding rule is reported") {
  IgnoreRules rules;
  rules.add("# data\ndata\n\n !data/keep \ndata/keep/big.bin", "Dockerfile.dockerignore");
  const auto rule = rules.excludes("data/keep/big.bin");
  REQUIRE(rule);
  CHECK(rule->pattern == "data/keep/big.bin");
  CHECK(rule->file == "Dockerfile.dockerignore");
  CHECK(rule->line == 5);
  CHECK(rules.excludes("data/x/y")->line == 2);
  CHECK_FALSE(rules.excludes("data/keep/small"));
  CHECK_FALSE(rules.excludes(""));
  REQUIRE(rules.rules().size() == 3);
  CHECK(rules.rules()[1].pattern == "!data/keep");
}

TEST_CASE("all malformed patterns are reported with file and line") {
  struct Case {
    const char* pattern;
    const char* message;
  };

  static const std::vector<Case> cases{
      {"!", "the pattern `!` is malformed: nothing follows the `!`"},
      {"! ", "the pattern `!` is malformed: nothing follows the `!`"},
      {"!/", "the pattern `!/` is malformed: nothing follows the `!`"},
      {"a[", "the pattern `a[` is malformed: a `[` is never closed"},
      {"a[b", "the pattern `a[b` is malformed: a `[` is never closed"},
      {"[]a]", "the pattern `[]a]` is malformed: a range in `[...]` lacks an end"},
      {"[a-]", "the pattern `[a-]` is malformed: a range in `[...]` lacks an end"},
      {"[-a]", "the pattern `[-a]` is malformed: a range in `[...]` lacks an end"},
      {"[z-a]", "the pattern `[z-a]` is malformed: a range in `[...]` runs backwards"},
      {"a\\", "the pattern `a\\` is malformed: it ends with a `\\`"},
      {"logs\\old",
       "the pattern `logs\\old` is malformed: docker reads the `\\o` in it as part of a regular "
       "expression"},
      {"\\1",
       "the pattern `\\1` is malformed: docker reads the `\\1` in it as part of a regular "
       "expression"},
      {"\\d*",
       "the pattern `\\d*` is malformed: docker reads the `\\d` in it as part of a regular "
       "expression"},
      {"a\\b*",
       "the pattern `a\\b*` is malformed: docker reads the `\\b` in it as part of a regular "
       "expression"},
      {"\\x41*",
       "the pattern `\\x41*` is malformed: docker reads the `\\x` in it as part of a regular "
       "expression"},
      {"[\\w]",
       "the pattern `[\\w]` is malformed: docker reads the `\\w` in it as part of a regular "
       "expression"},
      {"\\é",
       "the pattern `\\é` is malformed: docker reads the `\\é` in it as part of a regular "
       "expression"},
      {"a|b*",
       "the pattern `a|b*` is malformed: docker reads the `|` in it as part of a regular "
       "expression"},
      {"(a|b)/*.py",
       "the pattern `(a|b)/*.py` is malformed: docker reads the `|` in it as part of a regular "
       "expression"},
      {"x^*",
       "the pattern `x^*` is malformed: docker reads the `^` in it as part of a regular "
       "expression"},
      {"^a*",
       "the pattern `^a*` is malformed: docker reads the `^` in it as part of a regular "
       "expression"},
      {"*{2}",
       "the pattern `*{2}` is malformed: docker reads the `{2}` in it as part of a regular "
       "expression"},
      {"a{2,}*",
       "the pattern `a{2,}*` is malformed: docker reads the `{2,}` in it as part of a regular "
       "expression"},
      {"[ab]{1,70}",
       "the pattern `[ab]{1,70}` is malformed: docker reads the `{1,70}` in it as part of a "
       "regular expression"},
      {"[*]",
       "the pattern `[*]` is malformed: docker reads the `*` in it as part of a regular "
       "expression"},
      {"[a?]",
       "the pattern `[a?]` is malformed: docker reads the `?` in it as part of a regular "
       "expression"},
      {"[[:nope:]]",
       "the pattern `[[:nope:]]` is malformed: `[:nope:]` is not a class of characters"},
      {"[[:digit:]", "the pattern `[[:digit:]` is malformed: a `[` is never closed"},
      {"[\xFF]", "the pattern `[\\xff]` is malformed: a class of characters is not valid UTF-8"},
  };
  std::string all;
  for (const auto& [pattern, message] : cases) {
    const auto& shown = pattern;
    CAPTURE(shown);
    const auto problems = problems_of(std::string{"\n"} + pattern + "\n");
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].message == message);
    CHECK(problems[0].origin == ".dockerignore:2");
    all += std::string{pattern} + "\n";
  }
  CHECK(problems_of(all).size() == cases.size());
  CHECK(problems_of("logs\\old")[0].hints[0].starts_with("write paths with `/`"));
  CHECK(problems_of("a|b*")[0].hints ==
        std::vector<std::string>{"write `\\|` for the character itself"});
  CHECK(problems_of(std::string(70'000, 'a'))[0].message == "a line is longer than 64 KiB");
}

TEST_CASE("hostile patterns take no time") {
  std::string pattern;
  for (int i = 0; i < 30; ++i) {
    pattern += "*a";
  }
  CHECK(excluded(pattern + "*b", {std::string(4000, 'a')}).empty());
  CHECK_FALSE(excluded(pattern, {std::string(4000, 'a')}).empty());
  // More steps than fit on the stack.
  const std::string name(100, 'x');
  CHECK_FALSE(excluded("*/" + name + "/*", {"d/" + name + "/f"}).empty());
  CHECK(excluded("*/" + name + "/*", {"d/" + name + "y/f"}).empty());
  CHECK_FALSE(excluded(std::string(600, '?') + "*", {std::string(600, 'b')}).empty());
  CHECK(excluded(std::string(600, '?') + "*", {std::string(599, 'b')}).empty());
}

TEST_CASE("an excluded directory is entered only for exceptions below it") {
  IgnoreRules rules;
  rules.add("*\n!src/keep\n!data/*.csv\n!logs/**\n", ".dockerignore");
  for (const char* path : {"src", "data", "data/2024", "logs", "logs/a"}) {
    CAPTURE(path);
    CHECK(rules.may_hold_exceptions(path));
  }
  for (const char* path : {"sr", "src/keep", "src/other", "dat", "venv", "log"}) {
    CAPTURE(path);
    CHECK_FALSE(rules.may_hold_exceptions(path));
  }
  rules.add("!**/README", ".dockerignore");
  CHECK(rules.may_hold_exceptions("venv"));
  CHECK_FALSE(IgnoreRules{}.may_hold_exceptions("a"));
}

TEST_CASE("defaults leave out what no job needs, and a user takes it back") {
  const auto rules = defaults_and("!.git/HEAD\n!keep/.env\n");
  for (const char* path :
       {".git", ".git/config", "sub/.git", ".venv/bin/python", "venv/lib/x.py",
        "trainer/__pycache__/task.cpython-311.pyc", "old.pyc", ".mypy_cache/x",
        "my_package.egg-info/PKG-INFO", ".env", "conf/.env.local", ".ssh/id_rsa"}) {
    CAPTURE(path);
    const auto rule = rules.excludes(path);
    REQUIRE(rule);
    CHECK(rule->file == "autopack's defaults");
    CHECK(rule->line == 0);
  }
  for (const char* path :
       {".git/HEAD", "keep/.env", "env/cartpole.py", "build/model.py", "dist/__init__.py",
        "data/train.csv", "cache/store.py", "environment.yml", ".dockerignore", ".gitignore",
        "src/venv.py", "pyc"}) {
    CAPTURE(path);
    CHECK_FALSE(rules.excludes(path));
  }
}

TEST_CASE("the text of the rules reads back to the same rules") {
  IgnoreRules rules;
  rules.add(" #a\n# comment\n  !b  \n\\#c\n", ".dockerignore");
  CHECK(rules.text() == "# .dockerignore\n #a\n!b\n\\#c\n");
  const auto first = defaults_and(" #a\n!b");
  IgnoreRules second;
  second.add(first.text(), "Dockerfile.dockerignore");
  REQUIRE(second.rules().size() == first.rules().size());
  for (std::size_t i = 0; i < first.rules().size(); ++i) {
    CHECK(second.rules()[i].pattern == first.rules()[i].pattern);
  }
  CHECK(IgnoreRules{}.text().empty());
}

TEST_CASE("the Dockerfile's own ignore file goes before the general one") {
  const MemoryTree tree{{".dockerignore", "general"}, {"ops/Dockerfile.dockerignore", "own"}};
  CHECK(load_ignore_rules(tree).excludes("general"));
  CHECK(load_ignore_rules(tree, "Dockerfile").excludes("general"));
  const auto own = load_ignore_rules(tree, "ops/Dockerfile");
  CHECK(own.excludes("own")->file == "ops/Dockerfile.dockerignore");
  CHECK_FALSE(own.excludes("general"));
  CHECK(own.excludes(".git"));
  CHECK_FALSE(own.excludes("Dockerfile"));
  CHECK(load_ignore_rules(tree).excludes("Dockerfile"));
  CHECK_FALSE(load_ignore_rules(MemoryTree{}).excludes("general"));
}

TEST_CASE("hints name one path, whatever its characters") {
  CHECK(leave_out_command("a b/c.py") == "`--exclude='a b/c.py'` leaves it out");
  CHECK(leave_out_command("[a]*?\\") == R"(`--exclude='\[a]\*\?\\'` leaves it out)");
  const Rule own{.pattern = "x", .file = "a b.dockerignore", .line = 3};
  CHECK(bring_back_command("x", true, own) == "echo '!x/**' >> 'a b.dockerignore'");
  CHECK(bring_back_command("-n\\", false, own) == R"(printf '%s\n' '!-n\\' >> 'a b.dockerignore')");
  CHECK(bring_back_command("{a|b}", false, own) ==
        R"(printf '%s\n' '!\{a\|b\}' >> 'a b.dockerignore')");
  CHECK(bring_back_command(" x ", true, own) == "echo '![ ]x[ ]/**' >> 'a b.dockerignore'");
  CHECK(bring_back_command("x", false, {.pattern = "x", .file = "autopack's defaults"}) ==
        "`--include=x` includes it");
  CHECK(bring_back_command("x", false, {.pattern = "out/", .file = ".gitignore", .line = 2}) ==
        "`--include=x` includes it");
  CHECK(bring_back_command("x", false, {.pattern = "--exclude=x", .file = "--exclude"}) ==
        "drop `--exclude=x`");
  IgnoreRules rules;
  rules.add("\\#x\n\\!y\n\\[a]\\*\\?\\\\\n", ".dockerignore");
  CHECK(rules.excludes("#x"));
  CHECK(rules.excludes("!y"));
  CHECK(rules.excludes("[a]*?\\"));
  CHECK_FALSE(rules.excludes("ab?\\"));
  CHECK(leave_out_command("#x") == R"(`--exclude='\#x'` leaves it out)");
}

TEST_CASE("a walk's answers are those of the rules, in whatever order it asks") {
  const std::vector<std::string> names{"a", "b.py", "c", "a-b", "notes"};
  const std::vector<std::string> patterns{"a",        "**/notes", "!a/c",    "*.py",
                                          "!**/b.py", "a/*/c",    "c/**",    "!c/a",
                                          "**/*-b",   "?",        "notes/a", "!notes"};
  std::mt19937 random{7};
  for (int round = 0; round < 60; ++round) {
    IgnoreRules rules;
    std::string text;
    for (auto left = random() % 5; left > 0; --left) {
      text += patterns[random() % patterns.size()] + "\n";
    }
    CAPTURE(text);
    rules.add(text, ".dockerignore");
    IgnoreWalk walk{rules};
    std::string path;
    for (int i = 0; i < 60; ++i) {
      const bool goes_on = random() % 3 != 0;
      const auto slash = path.rfind('/');
      path = goes_on && slash != std::string::npos ? path.substr(0, slash) + "/" : "";
      path += names[random() % names.size()];
      path += random() % 3 == 0 ? "/" + names[random() % names.size()] : "";
      CAPTURE(path);
      const auto expected = rules.excludes(path);
      const auto found = walk.excludes(path);
      REQUIRE(found.has_value() == expected.has_value());
      CHECK((!found || found->line == expected->line));
    }
    CHECK_FALSE(walk.excludes(""));
  }
}

}  // namespace autopack::source_ignore_test
