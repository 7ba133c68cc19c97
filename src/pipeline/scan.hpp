#pragma once

#include "packaging/wanted.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// How often the tree is gone through besides the scan. After several times its lists are worth
/// their memory: each directory is asked of the disk once.
enum class Walks { one, several };

/// Reads the project; all findings at once, before anything is built.
packaging::ScannedProject scan(const packaging::Request& request, Walks walks = Walks::one);

/// What `request` asks for, scanned but without a name.
std::shared_ptr<packaging::Wanted> scan_wanted(packaging::Request request,
                                               Walks walks = Walks::one);

/// Whether the project of `request`, which names no program, has one that could be meant.
bool has_program(const packaging::Request& request);

/// The programs that `request`, which names none, could mean; empty when one of them stands out.
std::vector<project::Inferred> program_choices(const packaging::Request& request);

/// The file `path` as the request's source has it; none when it is not there.
std::optional<std::string> read_from_source(const packaging::Request& request,
                                            const std::filesystem::path& path);

/// Git's facts as labels of an image.
std::map<std::string, std::string> git_labels(const source::GitFacts& facts);

}  // namespace autopack::pipeline
