#include "base/url.hpp"
#include "project/requirements/requirement_lines.hpp"
#include "python/archive_name.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"

#include <doctest/doctest.h>

#include <random>

namespace autopack::python_requirement_test {

using namespace autopack::project;
using namespace autopack::python;

namespace {

std::string text_of(const std::string& line) {
  const auto requirement = parse_requirement(line);
  return requirement.kind == Requirement::Kind::malformed ? "! " + requirement.problem
                                                          : normalised(requirement);
}

struct Case {
  std::string text{};
  std::string expected{};
};

}  // namespace

TEST_CASE("requirements are normalised or refused with the reason") {
  const std::vector<Case> cases{
      {"numpy", "numpy"},
      {"  Foo_Bar.baz  ", "foo-bar-baz"},
      {"numpy == 1.26.4", "numpy==1.26.4"},
      {"numpy >=1.2 , < 2", "numpy>=1.2,<2"},
      {"numpy (>=1.2,<2)", "numpy>=1.2,<2"},
      {"numpy>=1,", "numpy>=1"},
      {"a === any?thing", "a===any?thing"},
      {"file:", "! a `file:` URL without a path"},
      {"torch[opt-einsum , Extra_1]>2", "torch[extra-1,opt-einsum]>2"},
      {"torch[]", "torch"},
      {"torch==2.0.*", "torch==2.0.*"},
      {"torch==2.0+cu118", "torch==2.0+cu118"},
      {"torch~=2!1.0", "torch~=2!1.0"},
      {"a; python_version  <  '3.9'", "a; python_version < '3.9'"},
      {"a ;sys_platform in 'linux'", "a; sys_platform in 'linux'"},
      {"pkg @ https://host/p.whl#sha256=12", "pkg @ https://host/p.whl#sha256=12"},
      {"pkg[x]@https://host/p.whl ; python_version<'3'",
       "pkg[x] @ https://host/p.whl; python_version<'3'"},
      {"pkg @ https://u:secret@host/p.whl", "pkg @ https://***@host/p.whl"},
      {"git+https://tok@host/r.git@main#egg=x", "git+https://***@host/r.git@main#egg=x"},
      {"./wheels/x.whl", "./wheels/x.whl"},
      {"x-1-py3-none-any.whl", "x-1-py3-none-any.whl"},
      {"./lib[gpu]", "./lib[gpu]"},
      {"file:///abs/x.whl", "/abs/x.whl"},
      {"file:./x%20y.whl", "./x y.whl"},
      {"p @ file:./x.whl", "p @ ./x.whl"},
      {"p @ ./lib", "p @ ./lib"},
      {".", "."},
      {".[dev]", ".[dev]"},
      {"dir/", "dir/"},
      {"", "! an empty requirement"},
      {"numpy=1.0", "! `numpy=1.0`: `=` is not a version operator"},
      {"numpy 1.0", "! `numpy 1.0` is not a requirement: cannot read `1.0` after the name"},
      {"numpy==", "! `numpy==` is not a requirement: cannot read `==` after the name"},
      {"numpy>=1 <2", "! `numpy>=1 <2` is not a requirement: cannot read `>=1 <2` after the name"},
      {"==1.0", "! `==1.0` does not start with the name of a package"},
      {"<<<<<<< HEAD", "! `<<<<<<< HEAD` does not start with the name of a package"},
      {"a[b", "! `a[b` has no `]`"},
      {"a[b,]", "! `a[b,]` has a malformed list of extras"},
      {"a[b c]", "! `a[b c]` has a malformed list of extras"},
      {"a @", "! `a @` names no URL after `@`"},
      {"a;", "a"},
      {"a==${V}", "a==${V}"},
      {"a  8b 9c==${V}", "a 8b 9c==${V}"},
      {"a -b==${V}", "a -b==${V}"},
      {"${NAME}==1", "${NAME}==1"},
      {"a; ${MARKER}", "a; ${MARKER}"},
      {"a==${v}", "! `a==${v}` is not a requirement: cannot read `==${v}` after the name"},
      {"p @ https://host/p.whl;python_version<'3'", "p @ https://host/p.whl; python_version<'3'"},
      {"https://host/p.whl;python_version<'3'", "https://host/p.whl;python_version<'3'"},
      {"a; python_version", "! `a; python_version` has a malformed marker after `;`"},
      {"a; (python_version<'3'", "! `a; (python_version<'3'` has a malformed marker after `;`"},
      {"a; python_version<'3", "! `a; python_version<'3` has a malformed marker after `;`"},
      {"\xc3\xa9t\xc3\xa9", "! `\xc3\xa9t\xc3\xa9` does not start with the name of a package"},
      {"a==1\x1b[0m",
       "! `a==1\\x1b[0m` is not a requirement: cannot read `==1\\x1b[0m` after the name"},
      {"a @ git+ssh://git@host:org/x.git@v1",
       "! `git+ssh://git@host:org/x.git@v1` is not a URL: the text between a colon and the next "
       "slash is a port"},
      {"git+git@host:x.git",
       "! `git+git@host:x.git` is not a URL: the text between a colon and the next slash is a "
       "port"},
      {"a @ git+ssh://git@host:22/x.git@v1", "a @ git+ssh://git@host:22/x.git@v1"},
      {"a @ git+ssh://git@[::1]/x.git", "a @ git+ssh://git@[::1]/x.git"},
      {"a @ git+ssh://me:secret@host/x.git", "a @ git+ssh://***@host/x.git"},
      {"a b https://u:p@h/", "a b https://u:p@h/"},
  };
  for (const auto& [text, expected] : cases) {
    if (text == "a b https://u:p@h/") {
      CHECK(text_of(text).find("u:p") == std::string::npos);
      continue;
    }
    CHECK(text_of(text) == expected);
  }
}

TEST_CASE("git's own form of an address is reported with the URL that pip accepts") {
  CHECK(parse_requirement("a @ git+git@host:org/x.git@v1").hint ==
        "write `git+ssh://git@host/org/x.git@v1`");
  CHECK(parse_requirement("git+ssh://git@host:org/x.git").hint ==
        "write `git+ssh://git@host/org/x.git`");
}

TEST_CASE("absent parts of a requirement are empty") {
  CHECK_FALSE(parse_requirement("six;").marker);
  CHECK_FALSE(parse_requirement("${SIX}").name);
  CHECK_FALSE(parse_requirement("./lib").name);
  CHECK_FALSE(parse_requirement("!").hint);
  CHECK(parse_requirement("pip install rich>=13").hint ==
        "write `rich>=13`, without `pip install`");
  CHECK_FALSE(parse_requirement("pip install").hint);
  CHECK_FALSE(split_requirements("--pre").at(0).requirement);
}

TEST_CASE("names, archives and wheels are distinguished as in pip") {
  CHECK(normalise_name("A__b..C-_d") == "a-b-c-d");
  CHECK(is_archive_name("x.tar.gz"));
  CHECK(is_archive_name("X.WHL"));
  CHECK_FALSE(is_archive_name(".whl"));
  CHECK_FALSE(is_archive_name("x.txt"));
  CHECK_FALSE(check_wheel_name("x-1.0-py3-none-any.whl"));
  CHECK_FALSE(check_wheel_name("x-1.0-1a-py3-none-any.whl"));
  CHECK(check_wheel_name("x.whl"));
  CHECK(check_wheel_name("x-1.0-py3-none.whl"));
  CHECK(check_wheel_name("x--py3-none-any.whl"));
  CHECK(check_wheel_name("x-1.0-a-py3-none-any.whl"));
}

TEST_CASE("credentials count when they are text, not variables") {
  CHECK(holds_credentials("https://u:p@host/simple"));
  CHECK(holds_credentials("https://token@host/simple"));
  CHECK(holds_credentials("https://token:@host/simple"));
  CHECK(holds_credentials("git+https://token@host/r.git"));
  CHECK(holds_credentials("https://${USER}:pa${X}@host"));
  CHECK(holds_credentials("https://plain/ https://u:p@host"));
  CHECK_FALSE(holds_credentials("https://u:${PASSWORD}@host"));
  CHECK_FALSE(holds_credentials("https://${TOKEN}@host"));
  CHECK_FALSE(holds_credentials("https://host/a@b"));
  CHECK_FALSE(holds_credentials("git+ssh://git@host/r.git"));
  CHECK_FALSE(holds_credentials("numpy"));
}

TEST_CASE("requirement lines are joined, stripped and split as pip does") {
  const auto lines = split_requirements(
      "# comment\r\n"
      "numpy==1 # why\r\n"
      "a==1 \\\n"
      "    --hash=sha256:aa \\\n"
      "    --hash sha256:bb\n"
      "\n"
      "b#egg\n"
      "c \\\n"
      "# a comment ends it\n"
      "-rother.txt\n"
      "--requirem 'with space.txt'\n"
      "  -e ./lib --pre\n"
      "# not continued \\\n"
      "d\n"
      "--no-index -f wheels\n"
      "e; python_version<'3' \\");
  REQUIRE(lines.size() == 10);
  CHECK(lines[0].requirement == "numpy==1");
  CHECK(lines[0].first == 2);
  CHECK(lines[1].requirement == "a==1");
  CHECK(lines[1].first == 3);
  CHECK(lines[1].last == 5);
  CHECK(lines[1].options == std::vector<std::pair<std::string, std::string>>{
                                {"--hash", "sha256:aa"}, {"--hash", "sha256:bb"}});
  CHECK(lines[2].requirement == "b#egg");
  CHECK(lines[3].requirement == "c");
  CHECK(lines[3].last == 9);
  CHECK(lines[4].options.at(0) ==
        std::pair<std::string, std::string>{"--requirement", "other.txt"});
  CHECK(lines[5].options.at(0).second == "with space.txt");
  CHECK(lines[6].options.at(0) == std::pair<std::string, std::string>{"--editable", "./lib"});
  CHECK(lines[6].options.at(1).first == "--pre");
  CHECK(lines[7].requirement == "d");
  CHECK(lines[8].options.at(1) == std::pair<std::string, std::string>{"--find-links", "wheels"});
  CHECK(lines[9].requirement == "e; python_version<'3'");
}

TEST_CASE("options that autopack does not know are passed on with what may be their value") {
  using Options = std::vector<std::pair<std::string, std::string>>;
  const auto read = [](const std::string& text) { return split_requirements(text).at(0); };
  CHECK(read("--only-final a,b").options == Options{{"--only-final", "a,b"}});
  CHECK(read("--only-final a,b").unknown == std::vector<std::string>{"--only-final"});
  CHECK(read("--all-releases=:all:").options == Options{{"--all-releases", ":all:"}});
  CHECK(read("--new --pre").options == Options{{"--new", ""}, {"--pre", ""}});
  CHECK(read("a -C k=v").options == Options{{"--config-settings", "k=v"}});
  CHECK(read("-xv").options == Options{{"-x", "v"}});
  CHECK(similar_option("--indx-url") == "did you mean `--index-url`?");
  CHECK_FALSE(similar_option("--uploaded-prior-to"));
}

TEST_CASE("lines end where Python's splitlines ends them") {
  for (const std::string end : {"\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\xc2\x85",
                                "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    CAPTURE(end);
    const auto lines = split_requirements("# comment" + end + "six==1.16" + end + "b");
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].requirement == "six==1.16");
    CHECK(lines[1].requirement == "b");
    const bool is_feed = end.ends_with('\n');
    CHECK(lines[0].first == (is_feed ? 2 : 1));
    CHECK(lines[0].is_alone == is_feed);
  }
  for (const std::string space : {"\x1f", "\xc2\xa0", "\xe3\x80\x80"}) {
    CHECK(split_requirements("six" + space + "# comment").at(0).requirement == "six");
  }
  CHECK(split_requirements("a\xe2\x80\x8b").at(0).requirement == "a\xe2\x80\x8b");
}

TEST_CASE("options that are wrong are refused") {
  const std::vector<Case> cases{
      {"-r", "`--requirement` wants a value"},
      {"--find-links=", "`--find-links` wants a value"},
      {"--pre=1", "`--pre` takes no value"},
      {"-e 'x", "a quote is not closed"},
  };
  for (const auto& [text, expected] : cases) {
    const auto lines = split_requirements(text);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].problem == expected);
  }
}

TEST_CASE("requirement files are decoded or refused with their line") {
  CHECK(decode_requirements("\xef\xbb\xbfnumpy").text == "numpy");
  CHECK(decode_requirements(std::string{"\xff\xfe\x61\x00\x3d\xd8\x00\xde", 8}).text ==
        "a\xf0\x9f\x98\x80");
  CHECK(decode_requirements(std::string{"\xfe\xff\x00\x61\xd8\x00", 6}).text == "a\xef\xbf\xbd");
  CHECK(decode_requirements("# -*- coding: latin-1 -*-\n# \xe9").text ==
        "# -*- coding: latin-1 -*-\n# \xc3\xa9");
  CHECK(decode_requirements("# vim: coding=cp1252 :\n# \x85").text ==
        "# vim: coding=cp1252 :\n# \xee\x82\x85");
  CHECK(
      decode_requirements("# coding:\n# encoding: ISO_8859_1\n# \xe9").text.ends_with("\xc3\xa9"));
  CHECK(decode_requirements("# coding: see below\n# \xc3\xa9").text.ends_with("\xc3\xa9"));
  CHECK(decode_requirements("# \xc3\xa9\n").problem_line == 0);
  CHECK(decode_requirements("a\n# \xe9\n").problem_line == 2);
  CHECK(decode_requirements("a\n# \xe9\n").problem == "it is not UTF-8");
  CHECK(decode_requirements("a\n\n\xc0\xaf").problem_line == 3);
  CHECK(decode_requirements("\xed\xa0\x80").problem_line == 1);
  CHECK(decode_requirements(std::string{"a\0b", 3}).problem_line == 1);
}

TEST_CASE("variables are the upper-case ones in braces") {
  CHECK(variables_of("https://${USER}:${PASS_1}@h/$HOME/${lower}/${}/${A") ==
        std::vector<std::string>{"USER", "PASS_1"});
}

TEST_CASE("no bytes upset the requirement parser") {
  std::mt19937 random{20240917};
  const std::string alphabet =
      " \t\r\n\\#;@[](){}'\"=<>~!,.-_/:$a1\xc3\xa9\xff\x01"
      "eER";
  const std::vector<std::string> words{
      "--hash=sha256:",    "-e ",  "-r",  "file:",        "git+https://u:p@h", "${A}", "name @ ",
      " ; python_version", "\\\n", "://", "--find-links "};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const auto length = random() % 60;
    for (std::size_t i = 0; i < length; ++i) {
      text += random() % 8 == 0 ? words[random() % words.size()]
                                : std::string(1, alphabet[random() % alphabet.size()]);
    }
    const auto decoded = decode_requirements(text);
    int last = 0;
    for (const auto& line : split_requirements(decoded.text)) {
      CHECK(line.first >= last);
      CHECK(line.last >= line.first);
      last = line.last;
      CHECK(line.requirement != "");
      const auto requirement = parse_requirement(line.requirement.value_or(""));
      CHECK_FALSE((requirement.name == "" || requirement.marker == "" || requirement.hint == ""));
      if (requirement.kind != Requirement::Kind::malformed) {
        CHECK_FALSE(normalised(requirement).empty());
        CHECK(requirement.problem.empty());
      } else {
        CHECK_FALSE(requirement.problem.empty());
      }
    }
  }
}

}  // namespace autopack::python_requirement_test
