#pragma once

#include "packaging/packaging.hpp"

#include <string>
#include <string_view>

namespace autopack::pipeline {

/// Returns the `.dockerignore` of a Dockerfile with which `docker build` uses the files of `work`:
/// the rules in docker's syntax, then by path what they cannot express.
std::string dockerignore_text(const packaging::Packaging& work);

/// Returns a `.dockerignore` for a project with which the image contains the same files of `work`
/// as without: git's rules if they apply, and other exclusions by path. Omits the built-in rules;
/// empty if nothing else is excluded.
std::string starter_ignore_text(const packaging::Packaging& work);

/// Returns whether `committed` is equivalent to `text`: it has the same rules, and selects the
/// files of `work`, though it may name other paths.
bool is_as_good(std::string_view committed,
                std::string_view text,
                const packaging::Packaging& work);

}  // namespace autopack::pipeline
