#include "base/error.hpp"
#include "base/file.hpp"
#include "engine/build_progress.hpp"
#include "support/recording_reporter.hpp"
#include "test_data.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace autopack::engine_build_progress_test {

using engine::BuildProgress;
using State = StepEvent::State;

namespace {

std::string recorded(const std::string& name) {
  return read_file(std::filesystem::path{TEST_DATA} / "engine" / (name + ".jsonl"));
}

struct Reported {
  testing::RecordingReporter reporter{};
  BuildProgress progress{&reporter};

  explicit Reported(std::string_view stream, std::size_t piece = 37) {
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      progress.feed(stream.substr(at, piece));
    }
    progress.finish();
  }

  long count(State state, std::string_view name) const {
    return std::count_if(reporter.steps.begin(), reporter.steps.end(), [&](const StepEvent& event) {
      return event.state == state && event.name.find(name) != std::string::npos;
    });
  }

  std::string log() const {
    std::string text;
    for (const auto& event : reporter.steps) {
      text += event.state == State::log ? event.text : "";
    }
    return text;
  }
};

}  // namespace

TEST_CASE("a build is reported step by step, with any builder") {
  for (const char* builder : {"buildkit", "classic", "podman"}) {
    CAPTURE(builder);
    const Reported told{recorded(std::string{builder} + "-built")};
    CHECK_FALSE(told.progress.failure());
    REQUIRE(told.progress.image_id());
    CHECK(told.progress.image_id()->starts_with("sha256:"));
    CHECK(told.progress.image_id().value().size() == 71);
    CHECK(told.progress.steps() >= 5);
    CHECK(told.progress.cached_steps() <= 1);
    CHECK(told.count(State::started, "RUN echo installing") == 1);
    CHECK(told.count(State::completed, "RUN echo installing") == 1);
    CHECK(told.count(State::completed, "RUN cat a.txt") == 1);
    CHECK(told.log().find("installing\n") != std::string::npos);
    CHECK(told.log().find("warn\n") != std::string::npos);
    CHECK(told.log().find("hello\n") != std::string::npos);
    CHECK(told.log().find('\x1b') == std::string::npos);
    CHECK(told.log().find("intermediate") == std::string::npos);
  }
}

TEST_CASE("cached steps are reported as such and counted") {
  for (const char* builder : {"buildkit", "classic", "podman"}) {
    CAPTURE(builder);
    const Reported told{recorded(std::string{builder} + "-cached")};
    CHECK(told.progress.cached_steps() >= 4);
    CHECK(told.progress.cached_steps() <= told.progress.steps());
    CHECK(told.count(State::cached, "RUN cat a.txt") == 1);
    CHECK(told.count(State::completed, "RUN cat a.txt") == 0);
    CHECK(told.progress.image_id().value().size() == 71);
  }
}

TEST_CASE("a failure names its step and keeps its output") {
  for (const char* builder : {"buildkit", "classic", "podman"}) {
    CAPTURE(builder);
    const Reported told{recorded(std::string{builder} + "-failed")};
    REQUIRE(told.progress.failure());
    CHECK(told.progress.failure()->step.value().find("RUN echo one") != std::string::npos);
    CHECK(told.progress.failure()->last_log.find("No matching distribution found for nosuch==1") !=
          std::string::npos);
    CHECK(told.count(State::failed, "RUN echo one") == 1);
    CHECK_FALSE(told.progress.image_id());
  }
}

TEST_CASE("a build that cannot start names no step that ran") {
  CHECK(Reported{recorded("buildkit-parse-error")}.progress.failure()->message.find(
            "dockerfile parse error line 2: unknown instruction: BOGUS") != std::string::npos);
  CHECK(Reported{recorded("buildkit-no-base")}.progress.failure()->message.find(
            "127.0.0.1:5711/no/such:1: not found") != std::string::npos);
  CHECK(Reported{recorded("classic-no-base")}.progress.failure()->step ==
        "Step 1/2 : FROM 127.0.0.1:5711/no/such:1");
}

TEST_CASE("the same stream in any pieces gives the same report") {
  const std::string stream = recorded("buildkit-built");
  const Reported whole{stream, stream.size()};
  const Reported bytes{stream, 1};
  CHECK(whole.reporter.steps.size() == bytes.reporter.steps.size());
  CHECK(whole.progress.image_id() == bytes.progress.image_id());
}

TEST_CASE("only the end of a long output is kept") {
  BuildProgress progress{nullptr};
  progress.feed("{\"stream\":\"Step 1/1 : RUN yes\"}\n");
  for (int i = 0; i < 5000; ++i) {
    progress.feed("{\"stream\":\"yes and yes again\\n\"}\n");
  }
  progress.feed("{\"errorDetail\":{\"message\":\"stopped\"}}\n");
  progress.finish();
  REQUIRE(progress.failure());
  CHECK(progress.failure()->last_log.size() < 64000);
  CHECK(progress.failure()->last_log.ends_with("yes and yes again\n"));
}

TEST_CASE("an invalid build stream is refused") {
  for (const char* stream : {"<html>\n", "[1,2]\n", "{\"a\":1\n", "\"text\"\n",
                             "{\"id\":\"moby.buildkit.trace\",\"aux\":\"CgU\"}\n",
                             "{\"id\":\"moby.buildkit.trace\",\"aux\":\"***\"}\n"}) {
    CAPTURE(stream);
    BuildProgress progress{nullptr};
    CHECK_THROWS_AS(progress.feed(stream), Error);
  }
  BuildProgress progress{nullptr};
  progress.feed("{\"id\":5,\"aux\":7,\"stream\":{}}\n{\"aux\":{\"ID\":3}}\n\r\n");
  progress.feed(R"({"stream":"cut)");
  CHECK_THROWS_AS(progress.finish(), Error);
  BuildProgress endless{nullptr};
  const std::string piece(1U << 20U, 'x');
  CHECK_THROWS_AS(
      [&] {
        for (int i = 0; i < 20; ++i) {
          endless.feed(piece);
        }
      }(),
      Error);
}

}  // namespace autopack::engine_build_progress_test
