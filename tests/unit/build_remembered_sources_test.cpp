#include "build/wheels/remembered_sources.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::build {

TEST_CASE("what source distributions require is remembered, and damage is skipped") {
  const std::vector<resolve::SourceMetadata> sources{
      {.name = "one", .version = "1.0", .requirements = {"six>=1"}},
      {.name = "two", .version = "2"}};
  CHECK(sources_from_json(to_json(sources)) == sources);
  CHECK(sources_from_json("").empty());
  CHECK(sources_from_json("{\"name\": 1}").empty());
  CHECK(sources_from_json(R"([1, {"name": "a"}, {"name": "a", "version": "1", "requires": [1]},
                              {"name": "b", "version": "2", "requires": []}])")
            .size() == 1);
  std::vector<resolve::SourceMetadata> many;
  for (int i = 0; i < 300; ++i) {
    many.push_back({.name = "n" + std::to_string(i), .version = "1"});
  }
  const auto kept = sources_from_json(to_json(many));
  CHECK(kept.size() == 200);
  CHECK(kept.back().name == "n299");
}

}  // namespace autopack::build
