#include "preflight/finding.hpp"

#include <algorithm>
#include <array>

namespace autopack::preflight {

namespace {

int rank(Result outcome) {
  switch (outcome) {
    case Result::error: return 0;
    case Result::warning: return 1;
    case Result::unknown: return 2;
    case Result::ok: break;
  }
  return 3;
}

}  // namespace

std::string_view to_string(Result outcome) {
  static constexpr std::array names{"ok", "warning", "error", "unknown"};
  return names.at(static_cast<std::size_t>(outcome));
}

Finding ok(std::string check, std::string what, std::string why) {
  return {.check = std::move(check), .what = std::move(what), .why = std::move(why)};
}

Finding warning(std::string check,
                std::string what,
                std::string why,
                std::vector<std::string> remedies) {
  return {.check = std::move(check),
          .outcome = Result::warning,
          .what = std::move(what),
          .why = std::move(why),
          .remedies = std::move(remedies)};
}

Finding failing(std::string check,
                std::string what,
                std::string why,
                std::vector<std::string> remedies) {
  return {.check = std::move(check),
          .outcome = Result::error,
          .what = std::move(what),
          .why = std::move(why),
          .remedies = std::move(remedies)};
}

Finding unknown(std::string check,
                std::string what,
                std::string why,
                std::vector<std::string> remedies) {
  return {.check = std::move(check),
          .outcome = Result::unknown,
          .what = std::move(what),
          .why = std::move(why),
          .remedies = std::move(remedies)};
}

Findings without_repeats(Findings findings) {
  Findings result;
  for (auto& finding : findings) {
    const bool is_told = std::any_of(result.begin(), result.end(), [&](const Finding& other) {
      return other.outcome == finding.outcome && other.what == finding.what;
    });
    if (!is_told) {
      result.push_back(std::move(finding));
    }
  }
  return result;
}

Findings in_order(Findings findings) {
  auto result = without_repeats(std::move(findings));
  std::stable_sort(result.begin(), result.end(), [](const Finding& a, const Finding& b) {
    return rank(a.outcome) < rank(b.outcome);
  });
  return result;
}

bool has_errors(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.outcome == Result::error; });
}

Problems to_problems(const Findings& findings) {
  Problems problems;
  for (const auto& finding : findings) {
    if (finding.outcome != Result::error && finding.outcome != Result::warning) {
      continue;
    }
    problems.push_back(
        {.severity = finding.outcome == Result::error ? Problem::Severity::error
                                                      : Problem::Severity::warning,
         .message = finding.why.empty() ? finding.what : finding.what + ": " + finding.why,
         .hints = finding.remedies});
  }
  return problems;
}

}  // namespace autopack::preflight
