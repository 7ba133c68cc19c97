#pragma once

#include "base/report.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace autopack::testing {

/// Records all reports of any thread; read it after the reporting threads have ended.
class RecordingReporter final : public Reporter {
public:
  void done(std::string_view verb, std::string_view object) override {
    const std::scoped_lock lock{mutex_};
    lines.push_back(std::string{verb} + " " + std::string{object});
  }

  void warn(const Problem& problem) override {
    const std::scoped_lock lock{mutex_};
    warnings.push_back(problem);
  }

  void step(const StepEvent& event) override {
    const std::scoped_lock lock{mutex_};
    steps.push_back(event);
  }

  void detail(std::string_view text) override {
    const std::scoped_lock lock{mutex_};
    details.emplace_back(text);
  }

  void trace(std::string_view text) override {
    const std::scoped_lock lock{mutex_};
    traces.emplace_back(text);
  }

  std::vector<std::string> lines{};
  Problems warnings{};
  std::vector<StepEvent> steps{};
  std::vector<std::string> details{};
  std::vector<std::string> traces{};

private:
  std::mutex mutex_{};
};

}  // namespace autopack::testing
