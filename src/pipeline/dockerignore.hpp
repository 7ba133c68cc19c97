#pragma once

#include "packaging/packaging.hpp"

#include <string>
#include <string_view>

namespace autopack::pipeline {

/// What a Dockerfile's `.dockerignore` must say so that `docker build` takes the files of `work`:
/// the rules in docker's syntax, then by path what they cannot say.
std::string dockerignore_text(const packaging::Packaging& work);

/// What a project's own `.dockerignore` must say so that the image holds the files of `work` with
/// it as without: git's rules where they count, and by path what else is left out. Without the
/// rules that are built in; empty when nothing else is left out.
std::string starter_ignore_text(const packaging::Packaging& work);

/// Whether `committed` is as good as `text`: it has the same rules, and takes the files of `work`,
/// though it names other paths.
bool is_as_good(std::string_view committed,
                std::string_view text,
                const packaging::Packaging& work);

}  // namespace autopack::pipeline
