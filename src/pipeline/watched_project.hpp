#pragma once

#include "pipeline/planning.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace autopack::pipeline {

/// What the image of a project would be made of, looked at again and again.
class WatchedProject {
public:
  /// At one moment.
  struct Look {
    std::string key{};                           ///< two looks with the same key see the same image
    std::optional<state::BuildRecord> record{};  ///< none while there can be no image
    std::set<std::filesystem::path> directories{};  ///< that hold what goes in

    /// What is other than `before`, as one line; never empty.
    std::string difference(const Look& before) const;
  };

  /// `want` reads the project anew each time it is called.
  WatchedProject(Services& services, std::function<WantedPtr()> want)
      : services_{services}, want_{std::move(want)} {}

  /// Asks no server, and tells nothing: what is wrong with the project is part of the key.
  Look look() const;

private:
  Services& services_;
  std::function<WantedPtr()> want_;
};

}  // namespace autopack::pipeline
