#pragma once

#include "image/manifest.hpp"

#include <string>
#include <vector>

namespace autopack::bundle {

/// A file that makes a program start an image from its root file system.
struct StartFile {
  std::vector<std::string> directories{};
  std::string name{};
  std::string text{};
  bool is_program{false};
};

/// Returns the files in which enroot and apptainer look for the program, directory and variables of
/// an image.
std::vector<StartFile> start_files(const image::Configuration& configuration);

}  // namespace autopack::bundle
