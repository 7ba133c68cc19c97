#pragma once

#include "base/report.hpp"

#include <string>
#include <vector>

namespace autopack::testing {

/// Keeps all that was reported.
class RecordingReporter final : public Reporter {
public:
  void done(std::string_view verb, std::string_view object) override {
    lines.push_back(std::string{verb} + " " + std::string{object});
  }

  void warn(const Problem& problem) override { warnings.push_back(problem); }

  void step(const StepEvent& event) override { steps.push_back(event); }

  void detail(std::string_view text) override { details.emplace_back(text); }

  void trace(std::string_view text) override { traces.emplace_back(text); }

  std::vector<std::string> lines{};
  Problems warnings{};
  std::vector<StepEvent> steps{};
  std::vector<std::string> details{};
  std::vector<std::string> traces{};
};

}  // namespace autopack::testing
