#include "base/error.hpp"

#include "base/contains.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace autopack {

std::string to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return "usage";
    case ErrorKind::project: return "project";
    case ErrorKind::drift: return "drift";
    case ErrorKind::environment: return "environment";
    case ErrorKind::remote: return "remote";
    case ErrorKind::interrupted: return "interrupted";
    case ErrorKind::internal: return "internal";
  }
  return "internal";
}

int exit_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::project: return 2;
    case ErrorKind::drift: return 3;
    case ErrorKind::interrupted: return 130;
    case ErrorKind::environment:
    case ErrorKind::remote:
    case ErrorKind::internal: return 1;
  }
  return 1;
}

Problem Problem::warning(Problem problem) {
  problem.severity = Severity::warning;
  return problem;
}

std::string_view to_string(Problem::Severity severity) {
  static constexpr std::array names{"error", "warning", "unknown", "ok"};
  return names.at(static_cast<std::size_t>(severity));
}

void append(Problems& all, Problems more) {
  std::ranges::move(more, std::back_inserter(all));
}

bool has_errors(const Problems& problems) {
  return std::ranges::any_of(problems, [](const Problem& problem) {
    return problem.severity == Problem::Severity::error;
  });
}

Error::Error(ErrorKind kind, std::string message) : kind_{kind}, message_{std::move(message)} {}

Error::Error(ErrorKind kind, Problems problems) : kind_{kind}, problems_{std::move(problems)} {
  for (const auto& problem : problems_) {
    if (problem.severity != Problem::Severity::error) {
      continue;
    }
    message_ += (message_.empty() ? "" : "\n") + problem.text();
    if (problem.origin) {
      message_ += " (" + *problem.origin + ")";
    }
    for (const auto& hint : problem.hints) {
      if (!contains(hints_, hint)) {
        hints_.push_back(hint);
      }
    }
  }
}

Error& Error::hint(std::string text) & {
  hints_.push_back(std::move(text));
  return *this;
}

Error&& Error::hint(std::string text) && {
  return std::move(hint(std::move(text)));
}

Error& Error::cause(std::string text) & {
  causes_.push_back(std::move(text));
  return *this;
}

Error&& Error::cause(std::string text) && {
  return std::move(cause(std::move(text)));
}

Problems Error::as_problems() const {
  if (!problems_.empty()) {
    return problems_;
  }
  Problem problem{.message = message_, .hints = hints_};
  for (const auto& cause : causes_) {
    problem.reason = problem.reason ? *problem.reason + ": " + cause : cause;
  }
  return {problem};
}

void Error::wrap(std::string what) {
  causes_.insert(causes_.begin(), std::move(message_));
  message_ = std::move(what);
  problems_.clear();
}

void throw_if_errors(const Problems& problems, ErrorKind kind) {
  Problems errors;
  std::ranges::copy_if(problems, std::back_inserter(errors),
                       [](const Problem& p) { return p.severity == Problem::Severity::error; });
  if (!errors.empty()) {
    throw Error(kind, std::move(errors));
  }
}

}  // namespace autopack
