#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "engine/build_progress.hpp"
#include "engine/json_lines.hpp"
#include "test_data.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <random>

namespace autopack::engine_build_trace_test {

using engine::BuildTrace;

namespace {

std::string bytes_field(unsigned number, std::string_view value) {
  std::string field{static_cast<char>(number << 3U | 2U)};
  field += static_cast<char>(value.size());
  return field.append(value);
}

std::vector<std::string> recorded_traces() {
  std::vector<std::string> traces;
  engine::JsonLines lines{[&](const nlohmann::json& message) {
    if (text_at(message, "id") == "moby.buildkit.trace") {
      traces.push_back(base64_decode(text_at(message, "aux")).value());
    }
  }};
  lines.feed(read_file(std::filesystem::path{TEST_DATA} / "engine/buildkit-built.jsonl"));
  lines.finish();
  return traces;
}

}  // namespace

TEST_CASE("a build trace is decoded") {
  const std::string vertex = bytes_field(1, "sha256:aa") + bytes_field(2, "sha256:00") +
                             bytes_field(3, "[1/2] RUN x") + std::string("\x20\x01", 2) +
                             bytes_field(5, std::string("\x08\x01", 2)) +
                             bytes_field(6, std::string("\x08\x02", 2)) + bytes_field(7, "boom");
  const std::string status = bytes_field(1, "layer") + bytes_field(2, "sha256:aa") +
                             std::string("\x20\xac\x02", 3) + std::string("\x28\x80\x08", 3);
  const std::string negative = std::string("\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
  const std::string log =
      bytes_field(1, "sha256:aa") + std::string("\x18\x02", 2) + bytes_field(4, "text\n");
  const auto trace = BuildTrace::decode(bytes_field(1, vertex) + bytes_field(2, status) +
                                        bytes_field(2, negative) + bytes_field(3, log) +
                                        bytes_field(4, "a warning"));
  REQUIRE(trace);
  REQUIRE(trace->vertices.size() == 1);
  CHECK(trace->vertices[0].digest == "sha256:aa");
  CHECK(trace->vertices[0].name == "[1/2] RUN x");
  CHECK(trace->vertices[0].cached);
  CHECK(trace->vertices[0].started);
  CHECK(trace->vertices[0].completed);
  CHECK(trace->vertices[0].error == "boom");
  REQUIRE(trace->statuses.size() == 2);
  CHECK(trace->statuses[0].id == "layer");
  CHECK(trace->statuses[0].current == 300);
  CHECK(trace->statuses[0].total == 1024);
  CHECK(trace->statuses[1].current == 0);
  REQUIRE(trace->logs.size() == 1);
  CHECK(trace->logs[0].text == "text\n");
}

TEST_CASE("a malformed build trace is refused") {
  const std::vector<std::string> malformed{
      std::string("\x0a", 1),  // length missing
      std::string("\x0a\x05"
                  "ab",
                  4),  // shorter than its length
      std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12),  // varint too long
      std::string("\x0a\x02\x0a\x7f", 4),                                   // inner length too long
      std::string("\x0b", 1),                                               // group
      std::string("\x02\x00", 2),                                           // field number 0
      std::string("\x09\x00", 2),                                           // fixed64 cut off
      std::string("\x0d\x00", 2),                                           // fixed32 cut off
      std::string("\x80", 1),                                               // key cut off
  };
  for (const auto& bytes : malformed) {
    CAPTURE(bytes);
    CHECK_FALSE(BuildTrace::decode(bytes));
  }
  CHECK(BuildTrace::decode(""));
  CHECK(BuildTrace::decode(std::string("\x48\x05", 2)));  // an unknown number
  CHECK(BuildTrace::decode(std::string("\x08\x05", 2)));  // a vertex that is a number
}

TEST_CASE("any bytes decode or are refused, within their bounds") {
  std::mt19937 random{20};  // a fixed seed: the same bytes each time
  const auto traces = recorded_traces();
  REQUIRE(traces.size() > 5);
  std::size_t refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = traces[random() % traces.size()];
    for (auto flips = random() % 8; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(random() % (bytes.size() + 1));
    const auto trace = BuildTrace::decode(bytes);
    refused += trace ? 0U : 1U;
    std::size_t taken = 0;
    for (const auto& vertex : trace ? trace->vertices : std::vector<BuildTrace::Vertex>{}) {
      taken += vertex.name.size() + vertex.digest.size() + vertex.error.size();
    }
    CHECK(taken <= bytes.size());
  }
  CHECK(refused > 1000);
}

}  // namespace autopack::engine_build_trace_test
