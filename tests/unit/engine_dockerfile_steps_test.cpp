#include "engine/dockerfile_steps.hpp"

#include <doctest/doctest.h>

namespace autopack::engine_dockerfile_steps_test {

using engine::instruction_of_step;

namespace {

constexpr std::string_view dockerfile = R"(# syntax comment
ARG VERSION=1

FROM base:1 AS deps
ENV A=1
# a comment
RUN echo one && \
    # inside
    echo two
WORKDIR /srv

FROM scratch
COPY a /

FROM deps
COPY a.txt ./
RUN cat a.txt
)";

int line_of(std::string_view step, std::string_view text = dockerfile) {
  const auto found = instruction_of_step(text, step);
  return found ? found->line : 0;
}

}  // namespace

TEST_CASE("a step's name leads to its line") {
  CHECK(line_of("[deps 1/3] FROM docker.io/library/base:1") == 4);
  CHECK(line_of("[deps 2/3] RUN echo one") == 7);
  CHECK(line_of("[deps 3/3] WORKDIR /srv") == 10);
  CHECK(line_of("[stage-1 1/1] COPY a /") == 13);
  CHECK(line_of("[stage-2 1/2] COPY a.txt ./") == 16);
  CHECK(line_of("[stage-2 2/2] RUN cat a.txt") == 17);
  CHECK(line_of("[ 2/10] RUN x", "FROM b\nRUN x\n") == 2);
  CHECK(line_of("[2/2] RUN x", "FROM b\nRUN x\n") == 2);
  CHECK(line_of("Step 1/9 : ARG VERSION=1") == 2);
  CHECK(line_of("Step 4/9 : RUN echo one") == 7);
  CHECK(line_of("[1/3] STEP 3/4: RUN echo one") == 7);
  CHECK(line_of("[3/3] STEP 2/3: COPY a.txt ./") == 16);
  CHECK(line_of("STEP 2/2: RUN x", "FROM b\nRUN x\n") == 2);
}

TEST_CASE("a step of no line is none") {
  for (const char* step :
       {"", "[internal] load metadata for docker.io/library/base:1", "exporting to image",
        "[nowhere 1/2] RUN x", "[deps 9/3] RUN x", "Step 99/9 : RUN x", "Step x", "[1/", "[ / ] ",
        "[9/9] STEP 1/1: RUN x", "STEP 0/0: x", "[deps 18446744073709551616/2] RUN"}) {
    CAPTURE(step);
    CHECK(line_of(step) == 0);
  }
  CHECK(line_of("[1/1] RUN x", "") == 0);
  CHECK(line_of("[1/1] RUN x", "RUN x") == 0);
}

TEST_CASE("here-documents that never end are instructions of one line") {
  std::string text = "FROM a\nRUN <<A\nx\nA\nRUN <<A\nRUN <<A\nA\n";
  CHECK(engine::instructions_of(text).size() == 3);
  text = "FROM a\n";
  for (int i = 0; i < 50'000; ++i) {
    text += "RUN <<A" + std::to_string(i) + "\n";
  }
  CHECK(engine::instructions_of(text).size() == 50'001);
}

TEST_CASE("here-documents and other escapes are one instruction") {
  const std::string_view text =
      "# escape=`\nFROM b\nRUN <<EOF\nRUN not\nEOF\nRUN a `\n  b\nRUN x <<< word\nCOPY a b\n";
  const auto all = engine::instructions_of(text);
  REQUIRE(all.size() == 5);
  CHECK(all[1].line == 3);
  CHECK(all[2].line == 6);
  CHECK(all[3].line == 8);
  CHECK(all[4].line == 9);
  CHECK(all[4].keyword == "COPY");
  CHECK(engine::instructions_of("from b\\\n").size() == 1);
}

}  // namespace autopack::engine_dockerfile_steps_test
