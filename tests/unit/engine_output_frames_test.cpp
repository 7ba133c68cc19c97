#include "base/error.hpp"
#include "engine/output_frames.hpp"

#include <doctest/doctest.h>

namespace autopack::engine_output_frames_test {

using engine::OutputFrames;

TEST_CASE("a container's streams are separated in any pieces") {
  const std::string long_text(300, 'x');
  std::string stream("\x01\0\0\0\0\0\0\x03out", 11);
  stream += std::string(
      "\x02\0\0\0\0\0\0\x03"
      "err",
      11);
  stream += std::string("\x01\0\0\0\0\0\0\0", 8);
  stream += std::string("\x01\0\0\0\0\0\x01\x2c", 8) + long_text;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, stream.size()}) {
    std::string output;
    std::string errors;
    OutputFrames frames{[&](std::string_view bytes) { output += bytes; },
                        [&](std::string_view bytes) { errors += bytes; }};
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      frames.feed(std::string_view{stream}.substr(at, piece));
    }
    CHECK(output == "out" + long_text);
    CHECK(errors == "err");
  }
  OutputFrames frames{[](std::string_view) {}, [](std::string_view) {}};
  CHECK_THROWS_AS(frames.feed(std::string("\x09\0\0\0\0\0\0\x01", 8)), Error);
}

}  // namespace autopack::engine_output_frames_test
