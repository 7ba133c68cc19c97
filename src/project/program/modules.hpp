#pragma once

#include "project/findings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// Returns `trainer.task` for `trainer/task.py`; `trainer` for `trainer/__main__.py`.
std::string module_of_script(std::string_view script);

/// Returns true if a Python file tests `if __name__ ==` at the start of a line: it is meant to be
/// run.
bool has_main_guard(std::string_view text);

/// Returns hints of what the missing `module`, imported from the project's root or from `root`, may
/// mean; empty if nothing is similar.
std::vector<std::string> modules_like(const Findings& findings,
                                      const std::string& module,
                                      const std::string& root);

/// Returns hints of how to run something in package `module` of `directory`, which cannot be run
/// itself: its modules with a `__main__` guard, its packages with a `__main__.py`, or how to name a
/// module.
std::vector<std::string> ways_to_run(const Findings& findings,
                                     const std::string& module,
                                     const std::string& directory);

}  // namespace autopack::project
