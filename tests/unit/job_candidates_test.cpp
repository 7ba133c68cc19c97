#include "job/candidates.hpp"

#include <doctest/doctest.h>

namespace autopack::job_candidates_test {

namespace {

using Strings = std::vector<std::string>;

Strings texts(const job::CandidateLists& lists) {
  Strings all;
  for (const auto& candidate : lists.in_order()) {
    all.push_back(to_string(candidate));
  }
  return all;
}

}  // namespace

TEST_CASE("every region is tried with the first accelerator, then with the second") {
  CHECK(texts({.regions = {"a", "b"}, .accelerators = {"X", "Y"}}) ==
        Strings{"a with X", "b with X", "a with Y", "b with Y"});
  CHECK(texts({.regions = {"a", "b"}, .accelerators = {"X"}}) == Strings{"a", "b"});
  CHECK(texts({.regions = {"a", "b"}}) == Strings{"a", "b"});
  CHECK_FALSE(job::CandidateLists{.regions = {"a"}, .accelerators = {"X"}}.has_several());
}

TEST_CASE("there are at most 32 places") {
  job::CandidateLists lists;
  for (int i = 0; i < 16; ++i) {
    lists.regions.push_back("region" + std::to_string(i));
  }
  lists.accelerators = {"X", "Y"};
  CHECK(lists.in_order().size() == 32);
  lists.regions.emplace_back("one-more");
  CHECK_THROWS_AS(static_cast<void>(lists.in_order()), Error);
}

TEST_CASE("a list is split at commas, without spaces, empty parts and repetitions") {
  CHECK(job::candidate_names({"a, b,,a", "c"}) == Strings{"a", "b", "c"});
  CHECK(job::candidate_names({","}).empty());
}

TEST_CASE("lists are kept in labels, of which each has room for 63 characters") {
  job::CandidateLists lists{.regions = {"northamerica-northeast1", "northamerica-northeast2",
                                        "southamerica-east1", "europe-west4"},
                            .accelerators = {"NVIDIA_H100_80GB", "NVIDIA_TESLA_A100"}};
  const auto labels = job::candidate_labels(lists);
  CHECK(labels.at("autopack-regions") == "northamerica-northeast1_northamerica-northeast2");
  CHECK(labels.at("autopack-regions-2") == "southamerica-east1_europe-west4");
  CHECK(labels.at("autopack-accelerators") == "nvidia_h100_80gb-nvidia_tesla_a100");
  CHECK(labels.size() == 3);
  const auto read = job::read_candidate_labels(labels);
  CHECK(read.regions == lists.regions);
  CHECK(read.accelerators == lists.accelerators);
  CHECK(job::read_candidate_labels({{"team", "x"}}).regions.empty());
  lists.regions = {"Not a region!", "us-east1"};
  CHECK(job::candidate_labels(lists).at("autopack-regions") == "us-east1");
}

TEST_CASE("the table says which machines support an accelerator") {
  CHECK(job::supports("n1-standard-8", "NVIDIA_TESLA_T4", 2));
  CHECK_FALSE(job::supports("n1-standard-8", "NVIDIA_TESLA_T4", 3));
  CHECK(job::supports("a2-highgpu-2g", "NVIDIA_TESLA_A100", 2));
  CHECK_FALSE(job::supports("a2-highgpu-2g", "NVIDIA_H100_80GB", 2));
  CHECK_FALSE(job::supports("unknown", "NVIDIA_TESLA_T4", 1));
}

}  // namespace autopack::job_candidates_test
