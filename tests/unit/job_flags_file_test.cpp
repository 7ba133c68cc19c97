#include "base/error.hpp"
#include "job/flags_file.hpp"

#include <doctest/doctest.h>

namespace autopack::job::job_flags_file_test {

namespace {

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("a flags file is a command line") {
  CHECK(
      parse_flags_file("--region: x\n--quiet:\n--gpu: true\n--web: false\n--name: 'true'\n", "f") ==
      Strings{"--region=x", "--quiet", "--gpu", "--no-web", "--name=true"});
  CHECK(parse_flags_file("--args: [a, 'b,c', ^x]\n", "f") ==
        Strings{"--args=a", "--args=^|^b,c", "--args=^|^^x"});
  CHECK(parse_flags_file("--labels: {a: 1, b: 'x,y'}\n", "f") == Strings{"--labels=^|^a=1|b=x,y"});
  CHECK(parse_flags_file(R"([{"--region": "x"}, {"--region": "y"}])", "f") ==
        Strings{"--region=x", "--region=y"});
  CHECK(parse_flags_file("--worker-pool-spec:\n- machine-type=a,replica-count=1\n- {script: b}\n",
                         "f") == Strings{"--worker-pool-spec=machine-type=a,replica-count=1",
                                         "--worker-pool-spec=script=b"});
  CHECK(parse_flags_file("--args: [a, '']\n", "f") == Strings{"--args=a", "--args=,"});
  CHECK(parse_flags_file("--args: ['']\n", "f") == Strings{"--args=,"});
  CHECK(parse_flags_file("", "f").empty());
  CHECK_THROWS_WITH_AS(
      parse_flags_file({"--a: b\n\0--c: d\n", 15}, "f"),
      "`--flags-file` `f` line 1 is not YAML: it contains a zero byte, so it is not text", Error);
}

TEST_CASE("an invalid flags file is reported with its line") {
  for (const auto* text : {"region: x\n", "- x\n", "x\n", "--a: [[1]]\n", "--a: {b: {c: 1}}\n",
                           "--a: [\n", "--: 1\n", "--a: 1\n--a: 2\n"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_flags_file(text, "f"), Error);
  }
}

}  // namespace autopack::job::job_flags_file_test
