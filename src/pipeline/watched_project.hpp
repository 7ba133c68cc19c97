#pragma once

#include "pipeline/planning.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace autopack::pipeline {

/// The inputs of a project's image, sampled repeatedly.
class WatchedProject {
public:
  /// A sample at one moment.
  struct Look {
    std::string key{};  ///< two samples with the same key give the same image
    std::optional<state::BuildRecord> record{};     ///< absent while no image is possible
    std::set<std::filesystem::path> directories{};  ///< directories with included files

    /// Returns the differences from `before` in one line; never empty.
    std::string difference(const Look& before) const;
  };

  /// `want` reads the project again on each call.
  WatchedProject(Services& services, std::function<WantedPtr()> want)
      : services_{services}, want_{std::move(want)} {}

  /// Sends no request and reports nothing: errors of the project are part of the key.
  Look look() const;

private:
  Services& services_;
  std::function<WantedPtr()> want_;
};

}  // namespace autopack::pipeline
