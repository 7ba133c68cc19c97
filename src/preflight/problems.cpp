#include "preflight/problems.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace autopack::preflight {

namespace {

Problem found(Severity severity,
              std::string check,
              std::string message,
              std::optional<std::string> reason,
              std::vector<std::string> hints = {}) {
  return {.severity = severity,
          .message = std::move(message),
          .hints = std::move(hints),
          .reason = std::move(reason),
          .check = std::move(check)};
}

}  // namespace

Problem ok(std::string check, std::string message, std::optional<std::string> reason) {
  return found(Severity::ok, std::move(check), std::move(message), std::move(reason));
}

Problem warning(std::string check,
                std::string message,
                std::string reason,
                std::vector<std::string> hints) {
  return found(Severity::warning, std::move(check), std::move(message),
               non_empty(std::move(reason)), std::move(hints));
}

Problem failing(std::string check,
                std::string message,
                std::string reason,
                std::vector<std::string> hints) {
  return found(Severity::error, std::move(check), std::move(message), non_empty(std::move(reason)),
               std::move(hints));
}

Problem unknown(std::string check,
                std::string message,
                std::string reason,
                std::vector<std::string> hints) {
  return found(Severity::unknown, std::move(check), std::move(message),
               non_empty(std::move(reason)), std::move(hints));
}

Problems without_repeats(const Problems& problems) {
  Problems result;
  for (const auto& problem : problems) {
    const bool is_reported = std::ranges::any_of(result, [&](const Problem& other) {
      return other.severity == problem.severity && other.message == problem.message;
    });
    if (!is_reported) {
      result.push_back(problem);
    }
  }
  return result;
}

Problems in_order(const Problems& problems) {
  auto result = without_repeats(problems);
  std::ranges::stable_sort(
      result, [](const Problem& a, const Problem& b) { return a.severity < b.severity; });
  return result;
}

}  // namespace autopack::preflight
