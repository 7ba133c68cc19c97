#pragma once

#include "packaging/wanted.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// How often the tree is walked besides the scan. For several walks, caching its lists is worth the
/// memory: each directory is read from the disk once.
enum class Walks { one, several };

/// Reads the project; throws all findings at once, before anything is built.
packaging::ScannedProject scan(const packaging::Request& request, Walks walks = Walks::one);

/// Returns the scanned project of `request`, without a name.
std::shared_ptr<packaging::Wanted> scan_wanted(packaging::Request request,
                                               Walks walks = Walks::one);

/// Returns whether the project of `request`, which names no program, has one that could be meant.
bool has_program(const packaging::Request& request);

/// Returns the possible programs of `request`, which names none; empty if one of them is clear.
std::vector<project::Inferred> program_choices(const packaging::Request& request);

/// Returns the file `path` from the request's source; nothing if it does not exist.
std::optional<std::string> read_from_source(const packaging::Request& request,
                                            const std::filesystem::path& path);

/// Returns git's facts as labels of an image.
std::map<std::string, std::string> git_labels(const source::GitFacts& facts);

}  // namespace autopack::pipeline
