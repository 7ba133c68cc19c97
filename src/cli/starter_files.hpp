#pragma once

#include "job/location.hpp"
#include "project/inference.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// What a new file of settings says.
struct StarterSettings {
  /// The program and the image to start from, each with why.
  std::vector<project::Inferred> chosen{};
  std::string name{};   ///< of jobs and the image
  std::string image{};  ///< that autopack makes when the file names none
  job::Location location{};
};

/// A new `autopack.yaml`: each key with a comment that says what it is for and why it is so; what
/// nobody knows stands there as a comment.
std::string starter_settings_text(const StarterSettings& settings);

/// A new `.dockerignore` around `rules`, which may be empty.
std::string starter_ignore_file(const std::string& rules);

}  // namespace autopack::cli
