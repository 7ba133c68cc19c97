#pragma once

#include <span>
#include <string_view>

namespace autopack::preflight {

/// Who finds, before submission, one of the failures that jobs are known to meet late.
enum class Finder {
  rule,       ///< a rule of job/, project/, source/ or submit/, told as an ordinary error
  table,      ///< check_offline
  request,    ///< online_checks, or doctor's look at engine, login and credentials
  hindsight,  ///< nothing can tell before; the error's own hint does
};

struct Row {
  int number{0};
  std::string_view symptom{};
  Finder finder{Finder::rule};
  std::string_view where{};  ///< name of the check, or what does it
};

/// All that are known.
std::span<const Row> rows();

}  // namespace autopack::preflight
