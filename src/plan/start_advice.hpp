#pragma once

#include "plan/plan.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace autopack::plan {

/// Returns whether the executor image contains each of some modules (`torch`), programs
/// (`program:git`) and libraries (`library:libGL.so.1`); omits unknown ones.
using BaseContents =
    std::function<std::map<std::string, bool>(const std::vector<std::string>& names)>;

/// Checks whether the program of `plan` can start: its launcher, a module or a program that is not
/// in the tree, and the commands of a shell script; and whether the system has the dependencies of
/// the installation. Failures of the build are errors; a certain failure of the program is a
/// warning that project::is_certain. Looks into the executor image only if one of these is in
/// question.
Problems start_advice(const ReadablePlan& plan,
                      const project::Project& project,
                      const BaseContents& in_base);

}  // namespace autopack::plan
