#include "preflight/finding.hpp"

#include <algorithm>
#include <array>

namespace autopack::preflight {

namespace {

int rank(Outcome outcome) {
  switch (outcome) {
    case Outcome::error: return 0;
    case Outcome::warning: return 1;
    case Outcome::unknown: return 2;
    case Outcome::ok: break;
  }
  return 3;
}

}  // namespace

std::string_view to_string(Outcome outcome) {
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
          .outcome = Outcome::warning,
          .what = std::move(what),
          .why = std::move(why),
          .remedies = std::move(remedies)};
}

Finding failing(std::string check,
                std::string what,
                std::string why,
                std::vector<std::string> remedies) {
  return {.check = std::move(check),
          .outcome = Outcome::error,
          .what = std::move(what),
          .why = std::move(why),
          .remedies = std::move(remedies)};
}

Finding unknown(std::string check,
                std::string what,
                std::string why,
                std::vector<std::string> remedies) {
  return {.check = std::move(check),
          .outcome = Outcome::unknown,
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
                     [](const Finding& finding) { return finding.outcome == Outcome::error; });
}

Problems to_problems(const Findings& findings) {
  Problems problems;
  for (const auto& finding : findings) {
    if (finding.outcome != Outcome::error && finding.outcome != Outcome::warning) {
      continue;
    }
    problems.push_back(
        {.severity = finding.outcome == Outcome::error ? Problem::Severity::error
                                                       : Problem::Severity::warning,
         .message = finding.why.empty() ? finding.what : finding.what + ": " + finding.why,
         .hints = finding.remedies});
  }
  return problems;
}

}  // namespace autopack::preflight
