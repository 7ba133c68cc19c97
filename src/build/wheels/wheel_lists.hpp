#pragma once

#include "services/services.hpp"
#include "wheel/layers.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::build {

/// Fetches wheels into the cache.
using FetchWheels = std::function<void(const std::vector<wheel::ChosenWheel>& wheels)>;

/// The list of files in each wheel of a set, for grouping. It comes from the cache of this machine,
/// else from a cached wheel, else from the target repository, else from the wheel
/// after fetching it. So a change of one wheel does not fetch or open the others.
class WheelLists {
public:
  /// All arguments must outlive it.
  WheelLists(Services& services,
             const std::vector<wheel::ChosenWheel>& wheels,
             const wheel::Place& place,
             const FetchWheels& fetch);

  const std::vector<wheel::WheelFiles>& all() const { return all_; }

  /// Returns true if some lists come only from the repository: their wheels were not opened here.
  bool is_reported() const { return !reported_.empty(); }

  /// Fetches and opens the wheels at `places` that are remembered only by the repository. If one
  /// differs, trusts none of them any more, fetches all and returns false.
  bool holds_for(const std::set<std::size_t>& places);

private:
  void look_into(const std::set<std::size_t>& places);

  Services& services_;
  const std::vector<wheel::ChosenWheel>& wheels_;
  const wheel::Place& place_;
  const FetchWheels& fetch_;
  std::vector<wheel::WheelFiles> all_{};
  std::set<std::size_t> reported_{};
};

/// Returns the list of files of `wheel`, under wheel::wheel_files_key, if this machine has opened
/// it; nothing otherwise.
std::optional<std::string> remembered_list(const Services& services,
                                           const wheel::ChosenWheel& wheel,
                                           const wheel::Place& place);

}  // namespace autopack::build
