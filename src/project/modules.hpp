#pragma once

#include "project/findings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A program's file is no larger, in bytes; what is, is data or was generated.
inline constexpr std::uint64_t largest_program{1'000'000};

/// `trainer.task` of `trainer/task.py`; `trainer` of `trainer/__main__.py`.
std::string module_of_script(std::string_view script);

/// True when a Python file asks `if __name__ ==` at the start of a line: it is meant to be run.
bool has_main_guard(std::string_view text);

/// What the project could mean by the missing `module`, imported from its root or from `root`: as
/// hints, none when nothing is like it.
std::vector<std::string> modules_like(const Findings& findings,
                                      const std::string& module,
                                      const std::string& root);

/// How to run something of package `module`, which lies in `directory` and cannot be run itself:
/// its modules with a `__main__` guard, its packages with a `__main__.py`, or what names a module.
/// As hints.
std::vector<std::string> ways_to_run(const Findings& findings,
                                     const std::string& module,
                                     const std::string& directory);

}  // namespace autopack::project
