#include "packaging/packaging.hpp"

#include "plan_fixture.hpp"

#include <doctest/doctest.h>

namespace autopack::packaging_test {

namespace {

std::shared_ptr<packaging::Wanted> wanted_as(const std::string& name) {
  packaging::Wanted wanted;
  wanted.name.reference = image::Reference::parse(name);
  return std::make_shared<packaging::Wanted>(std::move(wanted));
}

}  // namespace

TEST_CASE("an image has a name for its key, and one for its dependencies") {
  plan::ReadablePlan plan;
  plan.keys = {.dependencies = "fedcba98765432100123", .image = "0123456789abcdef0123"};
  const packaging::Packaging work{wanted_as("127.0.0.1:5000/team/model:v1"), plan, {}};
  CHECK(work.keyed_name().tagged() == "127.0.0.1:5000/team/model:ap-0123456789abcdef");
  CHECK(work.dependency_name() == "127.0.0.1:5000/team/model:apd-fedcba9876543210");
  CHECK(work.named_image().tag == "ap-0123456789abcdef");
}

TEST_CASE("a plan is compared with the last build") {
  const plan::Fixture fixture;
  const auto wanted = wanted_as("model");
  const packaging::Packaging first{wanted, fixture.plan(), {}};
  CHECK(first.is_changed());
  CHECK(first.comparison().is_first);
  CHECK_FALSE(first.key_before());
  REQUIRE(packaging::expected_dependencies(first));
  CHECK(packaging::to_text(*packaging::expected_dependencies(first)) ==
        "built for the first time here");
  const auto record = first.comparison().record.value();

  const packaging::Packaging again{wanted, fixture.plan(), record};
  CHECK_FALSE(again.is_changed());
  CHECK_FALSE(again.comparison().is_first);
  CHECK_FALSE(again.comparison().record);
  CHECK(again.key_before() == record.image_key);
  CHECK(packaging::reused_image(again).reason == "nothing changed");
  CHECK(packaging::expected_image(again).reason == "the engine does not have it");

  auto other = record;
  other.image_key = "0";
  other.dependency_key = "0";
  other.asked = {"one-more"};
  const packaging::Packaging changed{wanted, fixture.plan(), other};
  CHECK(changed.is_changed());
  CHECK_FALSE(changed.comparison().is_first);
  CHECK(changed.comparison().record == record);
  CHECK_FALSE(changed.comparison().changes.dependencies.empty());
}

TEST_CASE("a copy shares the plan, which stays where it is") {
  const packaging::Packaging work{wanted_as("model"), plan::Fixture{}.plan(), {}};
  const auto copy = work;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(&copy.plan() == &work.plan());
}

}  // namespace autopack::packaging_test
