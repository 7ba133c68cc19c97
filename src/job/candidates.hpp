#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The places where a job may run, in the order in which they are tried.
namespace autopack::job {

constexpr std::size_t most_candidates{32};

/// A region, and the accelerator that the job's machines have there.
struct Candidate {
  std::string region{};
  std::optional<std::string> accelerator{};  ///< absent: as the job has it

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// Returns `us-east1`, or with an accelerator `us-east1 with NVIDIA_L4`.
std::string to_string(const Candidate& candidate);

/// The lists of `--region` and `--accelerator-type`. A list with one element is a plain value.
struct CandidateLists {
  std::vector<std::string> regions{};
  std::vector<std::string> accelerators{};  ///< empty: as the job has it

  bool has_several() const { return regions.size() > 1 || accelerators.size() > 1; }

  /// Returns every region with the first accelerator, then with the second, and so on. Throws
  /// Error(usage) if there are more than `most_candidates`. A single accelerator is not named.
  std::vector<Candidate> in_order() const;
};

/// Returns the elements of a list that may be typed with commas, without duplicates.
std::vector<std::string> candidate_names(const std::vector<std::string>& values);

/// Returns the lists as labels of a job: `autopack-regions`, `autopack-accelerators`, and with `-2`
/// and so on what one value has no room for.
std::map<std::string, std::string> candidate_labels(const CandidateLists& lists);
/// Returns the lists in such labels; parts are empty if there are none.
CandidateLists read_candidate_labels(const std::map<std::string, std::string>& labels);

/// Returns true if the table says that machines of type `machine` can have `count` accelerators.
bool supports(const std::string& machine, const std::string& accelerator, std::int64_t count);

}  // namespace autopack::job
