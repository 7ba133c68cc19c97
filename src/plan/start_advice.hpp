#pragma once

#include "plan/plan.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace autopack::plan {

/// Whether the executor image holds each of some modules (`torch`), programs (`program:git`) and
/// libraries (`library:libGL.so.1`); what is not known is absent.
using BaseContents =
    std::function<std::map<std::string, bool>(const std::vector<std::string>& names)>;

/// Whether the program of `plan` can start: its launcher, a module or a program that is not in the
/// tree, and what a shell script starts; and whether the system has what the installation needs. An
/// error is what stops the build; what certainly ends the program is a warning that
/// project::is_certain. The executor image is looked into only when one of these is in question.
Problems start_advice(const ReadablePlan& plan,
                      const project::Project& project,
                      const BaseContents& in_base);

}  // namespace autopack::plan
