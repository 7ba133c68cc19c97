#pragma once

#include <span>
#include <string_view>

namespace autopack::preflight {

/// Who finds one of the late failures of vertex.md section 7 before submission.
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

/// All 32, in the order of vertex.md.
std::span<const Row> rows();

}  // namespace autopack::preflight
