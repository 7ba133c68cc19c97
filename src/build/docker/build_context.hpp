#pragma once

#include "base/secret.hpp"
#include "engine/docker.hpp"
#include "plan/plan.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::build {

/// A file of the context that is not in a tree: pip.conf, the Dockerfile. Its text is never logged.
struct ContextFile {
  std::string path{};
  Secret text{};
};

/// A context file copied from this machine's disk.
struct ContextCopy {
  std::string path{};
  std::filesystem::path file{};
};

/// The parts of a build's context.
struct ContextParts {
  const plan::ReadablePlan* plan{nullptr};  ///< files of the context; may be null
  /// The context directory for the files of the working directory: plan::Dialect::root. If empty,
  /// the root of the context.
  std::string root{};
  std::string dockerfile{};  ///< its text
  std::vector<ContextFile> files{};
  std::vector<ContextCopy> copies{};
  /// Code files to leave out of the context, by their paths below /usr/app; sorted.
  std::vector<std::string> left_out{};
  std::int64_t file_time{image::default_file_time};  ///< of every file of the context
};

/// Every file that a plan copies, the additional files, and the Dockerfile. The Dockerfile has the
/// path of the user's own if the context contains it unchanged, else a fixed name of autopack.
class PlannedContext : public engine::BuildContext {
public:
  explicit PlannedContext(ContextParts parts) : parts_{std::move(parts)} {}

  std::string dockerfile_path() const override;
  void write(const std::function<void(std::string_view bytes)>& out) const override;
  /// Returns the engine's name unless autopack generated the step: see step_for_people().
  std::string step_name(std::string_view step) const override;
  Error error_of(const engine::BuildFailure& failure) const override;

private:
  ContextParts parts_;
};

}  // namespace autopack::build
