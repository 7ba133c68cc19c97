#pragma once

#include "services/services.hpp"
#include "wheel/layers.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::engine {

/// Brings wheels, so that their files are at hand.
using FetchWheels = std::function<void(const std::vector<wheel::ChosenWheel>& wheels)>;

/// What each wheel of a set brings, to group them: remembered on this machine, else found in the
/// wheel where that is at hand, else noted in the repository that the image goes to, else found in
/// the wheel once it was fetched. When one wheel changes the others are neither fetched nor opened.
class WheelLists {
public:
  /// All must outlive it.
  WheelLists(Services& services,
             const std::vector<wheel::ChosenWheel>& wheels,
             const wheel::Place& place,
             const FetchWheels& fetch);

  const std::vector<wheel::Brought>& all() const { return all_; }

  /// True when some of it is only noted: nobody has looked into these wheels here.
  bool is_told() const { return !told_.empty(); }

  /// Fetches the wheels at `places` of which only notes tell, and looks into them. When one brings
  /// something else, no note is believed any more: all are fetched, and it is false.
  bool holds_for(const std::set<std::size_t>& places);

private:
  void look_into(const std::set<std::size_t>& places);

  Services& services_;
  const std::vector<wheel::ChosenWheel>& wheels_;
  const wheel::Place& place_;
  const FetchWheels& fetch_;
  std::vector<wheel::Brought> all_{};
  std::set<std::size_t> told_{};
};

/// The text of what `wheel` brings, under wheel::brought_key, when this machine looked into it;
/// none else.
std::optional<std::string> remembered_list(const Services& services,
                                           const wheel::ChosenWheel& wheel,
                                           const wheel::Place& place);

}  // namespace autopack::engine
