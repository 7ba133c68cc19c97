#pragma once

#include "packaging/wanted.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace autopack::pipeline {

/// Reads the project; all findings at once, before anything is built.
packaging::ScannedProject scan(const packaging::Request& request);

/// What `request` asks for, scanned but without a name.
std::shared_ptr<packaging::Wanted> scan_wanted(packaging::Request request);

/// The file `path` as the request's source has it; none when it is not there.
std::optional<std::string> read_from_source(const packaging::Request& request,
                                            const std::filesystem::path& path);

/// Git's facts as labels of an image.
std::map<std::string, std::string> git_labels(const source::GitFacts& facts);

}  // namespace autopack::pipeline
