#include "base/byte_pipe.hpp"
#include "base/error.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>

namespace autopack::base_byte_pipe_test {

namespace {

std::string read_all(BytePipe& pipe) {
  std::string text;
  std::array<char, 1000> buffer{};
  for (std::size_t count = pipe.read(buffer.data(), buffer.size()); count > 0;
       count = pipe.read(buffer.data(), buffer.size())) {
    text.append(buffer.data(), count);
  }
  return text;
}

}  // namespace

TEST_CASE("bytes come out of a pipe as they went in") {
  std::string expected;
  for (int i = 0; expected.size() < 3'000'000; ++i) {
    expected += std::to_string(i) + " ";
  }
  BytePipe pipe{[&](const auto& out) {
    for (std::size_t at = 0; at < expected.size(); at += 70'001) {
      out(std::string_view{expected}.substr(at, 70'001));
    }
  }};
  CHECK(read_all(pipe) == expected);
  CHECK(pipe.count() == expected.size());
}

TEST_CASE("an exception of the writer reaches the reader, after the bytes before it") {
  BytePipe pipe{[](const auto& out) {
    out("some");
    throw Error(ErrorKind::project, "`a` changed while it was read");
  }};
  std::array<char, 100> buffer{};
  std::string text;
  CHECK_THROWS_WITH_AS(
      [&] {
        for (;;) {
          text.append(buffer.data(), pipe.read(buffer.data(), buffer.size()));
        }
      }(),
      "`a` changed while it was read", Error);
  CHECK(text == "some");
}

TEST_CASE("a pipe that nobody reads on ends its writer") {
  bool finished = false;
  {
    BytePipe pipe{[&](const auto& out) {
      const std::string piece(100'000, 'x');
      for (int i = 0; i < 1000; ++i) {
        out(piece);
      }
      finished = true;
    }};
    std::array<char, 10> buffer{};
    CHECK(pipe.read(buffer.data(), buffer.size()) == 10);
  }
  CHECK_FALSE(finished);
}

TEST_CASE("pushed bytes are pulled in order, followed by an error") {
  const auto read = pulled([](const Take& take) {
    for (int i = 0; i < 1000; ++i) {
      take(std::string(5000, static_cast<char>('a' + i % 26)));
    }
    throw Error(ErrorKind::remote, "the line broke");
  });
  std::string all;
  std::string buffer(7001, '\0');
  try {
    while (const std::size_t count = read(buffer.data(), buffer.size())) {
      all.append(buffer, 0, count);
    }
    FAIL("the end was taken for a good one");
  } catch (const Error& error) {
    CHECK(std::string{error.what()} == "the line broke");
  }
  REQUIRE(all.size() == 5'000'000);
  CHECK(all[4999] == 'a');
  CHECK(all[5000] == 'b');
}

TEST_CASE("a reader that goes away ends the one that pushes") {
  std::atomic<bool> ended{false};
  {
    struct AtEnd {
      std::atomic<bool>& ended;

      ~AtEnd() { ended = true; }
    };

    const auto read = pulled([&](const Take& take) {
      const AtEnd end{ended};
      while (true) {
        take(std::string(100'000, 'x'));
      }
    });
    std::string buffer(10, '\0');
    CHECK(read(buffer.data(), buffer.size()) == 10);
  }
  CHECK(ended);
}

}  // namespace autopack::base_byte_pipe_test
