#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::fuzz {

/// A parser of something that strangers write. It may throw autopack::Error and nothing else.
struct Target {
  std::string_view name;
  void (*run)(std::string_view bytes);
};

std::vector<Target> project_targets();
std::vector<Target> index_targets();
std::vector<Target> job_targets();
std::vector<Target> kubernetes_targets();
std::vector<Target> local_targets();
std::vector<Target> lock_targets();
std::vector<Target> wire_targets();
std::vector<Target> settings_targets();
std::vector<Target> git_targets();
std::vector<Target> service_targets();
std::vector<Target> tree_targets();
std::vector<Target> wheel_targets();
std::vector<Target> python_targets();
std::vector<Target> sbom_targets();

/// Ends the run as a crash, so that the input is kept.
[[noreturn]] void fail(const std::string& what);

}  // namespace autopack::fuzz
