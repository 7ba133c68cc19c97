#include "base/error.hpp"
#include "wheel/grouping.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace autopack::wheel_grouping_test {

using namespace autopack::wheel;

namespace {

constexpr std::uint64_t mib{1U << 20U};

WheelFiles made_wheel(const std::string& name,
                      std::uint64_t size,
                      std::vector<WheelFile> files = {}) {
  if (files.empty()) {
    files = {{.path = name + ".py", .packed_size = size}};
  }
  return {.name = name, .digest = sha256(name), .size = size, .files = std::move(files)};
}

/// A hundred small wheels of 400 kB.
std::vector<WheelFiles> many() {
  std::vector<WheelFiles> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(made_wheel(fmt::format("small-{}", i), 400'000));
  }
  return all;
}

/// Returns the wheels of each layer by their names.
std::vector<std::set<std::string>> names(const Grouping& grouping,
                                         const std::vector<WheelFiles>& wheels) {
  std::vector<std::set<std::string>> all;
  for (const auto& layer : grouping.layers) {
    all.emplace_back();
    for (const std::size_t i : layer.wheels) {
      all.back().insert(wheels[i].name);
    }
  }
  return all;
}

/// Checks that each wheel's files are in layers once and complete.
void check_complete(const Grouping& grouping, const std::vector<WheelFiles>& wheels) {
  std::map<std::size_t, std::size_t> seen;
  for (const auto& layer : grouping.layers) {
    CHECK_FALSE(layer.wheels.empty());
    for (const std::size_t i : layer.wheels) {
      const auto part = layer.part.value_or(std::pair{std::size_t{0}, wheels[i].files.size()});
      CHECK(part.first == seen[i]);
      seen[i] = part.second;
    }
  }
  for (std::size_t i = 0; i < wheels.size(); ++i) {
    CHECK(seen[i] == wheels[i].files.size());
  }
}

}  // namespace

TEST_CASE("large wheels have their own layers, small ones share layers") {
  auto wheels = many();
  wheels.push_back(made_wheel("large", 2 * mib));
  wheels.push_back(made_wheel("nearly-large", 2 * mib - 1));
  const auto grouping = group(wheels, 100);
  check_complete(grouping, wheels);
  CHECK(grouping.warnings.empty());
  CHECK(grouping.layers.size() == 17);  // 16 for 40 MiB
  CHECK(names(grouping, wheels).front() == std::set<std::string>{"large"});
}

TEST_CASE("a changed or a new wheel touches one layer") {
  auto wheels = many();
  const auto before = names(group(wheels, 100), wheels);
  std::reverse(wheels.begin(), wheels.end());
  CHECK(names(group(wheels, 100), wheels) == before);
  wheels.push_back(made_wheel("new", 400'000));
  auto after = names(group(wheels, 100), wheels);
  REQUIRE(after.size() == before.size());
  int touched = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    touched += after[i] == before[i] ? 0 : 1;
  }
  CHECK(touched == 1);
}

TEST_CASE(
    "the order inside a layer is that of the names, so that a lock may be sorted differently") {
  auto wheels = many();
  const auto in_order = [&] {
    std::vector<std::string> all;
    for (const auto& layer : group(wheels, 1).layers) {
      for (const std::size_t i : layer.wheels) {
        all.push_back(wheels[i].name);
      }
    }
    return all;
  };
  const auto before = in_order();
  std::reverse(wheels.begin(), wheels.end());
  CHECK(in_order() == before);
}

TEST_CASE("wheels with a file in common share a layer, and the last one's file is taken") {
  const WheelFile common{.path = "ns/__init__.py", .packed_size = 0, .content = 1};
  WheelFile other = common;
  other.content = 2;
  const std::vector<WheelFiles> wheels{
      made_wheel("b", 20 * mib, {common, {.path = "b.py"}}), made_wheel("c", 20 * mib),
      made_wheel("a", 1, {common, {.path = "a.py"}}), made_wheel("d", 1, {other})};
  const auto grouping = group(wheels, 100);
  check_complete(grouping, wheels);
  const auto layers = names(grouping, wheels);
  REQUIRE(layers.size() == 2);
  CHECK(layers[0] == std::set<std::string>{"a", "b", "d"});
  CHECK(grouping.layers[0].wheels == std::vector<std::size_t>{0, 2, 3});
  REQUIRE(grouping.warnings.size() == 1);
  CHECK(grouping.warnings[0].message ==
        "`a` and `d` both install the file `ns/__init__.py`, with different contents; the file of "
        "`d` wins");
}

TEST_CASE("a file of one wheel cannot be a directory of another") {
  const std::vector<WheelFiles> wheels{made_wheel("a", 1, {{.path = "x/y"}}),
                                       made_wheel("b", 1, {{.path = "x/y/z/w"}})};
  CHECK_THROWS_WITH_AS(group(wheels, 9), "`a` and `b` cannot be installed together", Error);
}

TEST_CASE("huge wheels are split by their files") {
  std::vector<WheelFile> files;
  for (int i = 0; i < 10; ++i) {
    files.push_back({.path = fmt::format("f{}", i), .packed_size = i == 5 ? 300 * mib : 60 * mib});
  }
  const std::vector<WheelFiles> wheels{made_wheel("torch", 840 * mib, files), made_wheel("a", 1)};
  const auto grouping = group(wheels, 100);
  check_complete(grouping, wheels);
  REQUIRE(grouping.layers.size() == 5);
  CHECK(grouping.layers[0].part == std::pair{std::size_t{0}, std::size_t{4}});
  CHECK(grouping.layers[2].part == std::pair{std::size_t{5}, std::size_t{6}});
  const auto whole = group(wheels, 4);
  check_complete(whole, wheels);
  CHECK(whole.layers.size() == 2);
  CHECK_FALSE(whole.layers[0].part);
}

TEST_CASE("little is sent again with a small wheel") {
  auto wheels = many();
  for (std::uint64_t i = 0; i < 12; ++i) {
    wheels.push_back(made_wheel(fmt::format("middle-{}", i), (2 + i) * mib));
  }
  for (const auto& layer : group(wheels, 100).layers) {
    std::uint64_t size = 0;
    for (const std::size_t i : layer.wheels) {
      size += wheels[i].size;
    }
    CHECK((layer.wheels.size() == 1 || size < 5 * mib));
  }
}

TEST_CASE("where layers are few, the largest wheels keep their own") {
  auto wheels = many();
  for (std::uint64_t i = 0; i < 12; ++i) {
    wheels.push_back(made_wheel(fmt::format("middle-{}", i), (2 + i) * mib));
  }
  const auto layers = names(group(wheels, 20), wheels);
  CHECK(layers.size() == 20);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(layers[i] == std::set<std::string>{fmt::format("middle-{}", 11 - i)});
  }
}

TEST_CASE("there are never more layers than there may be") {
  auto wheels = many();
  for (std::uint64_t i = 0; i < 40; ++i) {
    wheels.push_back(made_wheel(fmt::format("large-{}", i), (17 + i) * mib));
  }
  for (const std::size_t most : {1U, 2U, 3U, 7U, 40U, 41U, 48U, 100U}) {
    CAPTURE(most);
    const auto grouping = group(wheels, most);
    check_complete(grouping, wheels);
    CHECK(grouping.layers.size() <= most);
    CHECK(grouping.layers.size() >= std::min<std::size_t>(most, 41));
  }
  CHECK(group(std::vector<WheelFiles>{}, 5).layers.empty());
}

TEST_CASE("a grouping comes back from its text, and a damaged one does not") {
  const std::vector<WheelFiles> wheels{made_wheel("a", 1, {{.path = "x", .content = 1}}),
                                       made_wheel("b", 600 * mib,
                                                  {{.path = "y", .packed_size = 300 * mib},
                                                   {.path = "z", .packed_size = 300 * mib}}),
                                       made_wheel("c", 1, {{.path = "x", .content = 2}})};
  const auto grouping = group(wheels, 9);
  const auto text = to_json(grouping);
  const auto again = grouping_from_json(text, 3);
  REQUIRE(again.has_value());
  CHECK(again->layers == grouping.layers);
  CHECK(again->warnings.size() == grouping.warnings.size());
  CHECK_FALSE(grouping_from_json(text, 2).has_value());
  CHECK_FALSE(grouping_from_json(text.substr(1), 3).has_value());
  CHECK_FALSE(grouping_from_json(R"({"layers":[{"wheels":[]}],"warnings":[]})", 3).has_value());
  CHECK_FALSE(grouping_from_json(R"({"layers":[{"wheels":[0,1],"part":[0,1]}],"warnings":[]})", 3)
                  .has_value());
  CHECK_FALSE(grouping_from_json(R"({"layers":[{"wheels":"x"}],"warnings":[]})", 3).has_value());
}

TEST_CASE("the list of a wheel's files is read from its text, and a damaged one is rejected") {
  const std::vector<WheelFile> files{{.path = "a b/c.py", .packed_size = 7, .content = UINT64_MAX},
                                     {.path = "1 2 d", .packed_size = 0, .content = 0}};
  const auto text = to_text(files).value();
  CHECK(parse_wheel_files(text) == files);
  CHECK(parse_wheel_files(to_text({}).value()) == std::vector<WheelFile>{});
  CHECK_FALSE(to_text({{.path = "a\nb"}}).has_value());
  for (std::size_t size = 0; size < text.size(); ++size) {
    CHECK_FALSE(parse_wheel_files(text.substr(0, size)).has_value());
  }
  for (const auto* damaged : {"1 2\nend\n", "1 2 \nend\n", "x 2 a\nend\n", "1 2 aend\n",
                              "99999999999999999999 2 a\nend\n", "-1 2 a\nend\n"}) {
    CHECK_FALSE(parse_wheel_files(damaged).has_value());
  }
}

}  // namespace autopack::wheel_grouping_test
