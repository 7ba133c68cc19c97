#pragma once

#include "job/location.hpp"
#include "project/program/inference.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// The content of a new settings file.
struct StarterSettings {
  /// The program and the executor image, each with a reason.
  std::vector<project::Inferred> chosen{};
  std::string name{};   ///< of jobs and the image
  std::string image{};  ///< the default image if the file names none
  job::Location location{};
};

/// Returns a new `autopack.yaml`: each key has a comment with its purpose and reason; unknown
/// values are comments.
std::string starter_settings_text(const StarterSettings& settings);

/// Returns a new `.dockerignore` with `rules`, which may be empty.
std::string starter_ignore_file(const std::string& rules);

}  // namespace autopack::cli
