#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack {

/// Who can fix it. It determines the exit status (see exit_status).
enum class ErrorKind {
  usage,        ///< the command line, a configuration file or an environment variable
  project,      ///< the user's project: a missing file, an unreadable requirement
  drift,        ///< a committed file differs from what autopack would write
  environment,  ///< this machine: no engine, no permission, no space
  remote,       ///< a service refused or did not answer
  interrupted,  ///< the user interrupted it
  internal,     ///< a bug in autopack
};

/// Returns the name in `--format=json`.
std::string to_string(ErrorKind kind);

/// Returns 2 for usage and project, 3 for drift, 130 for interrupted, else 1.
int exit_status(ErrorKind kind);

/// One finding of a check. A check returns all its findings, not only the first.
struct Problem {
  /// unknown: the check could not be made, which blocks nothing. ok: the check found no problem.
  enum class Severity { error, warning, unknown, ok };  // most severe first

  Severity severity{Severity::error};
  std::string message{};  ///< lower case, without a final period; puts names in backticks
  std::optional<std::string> origin{};  ///< the source of the wrong value
  std::vector<std::string> hints{};     ///< fixes, as commands if possible
  /// The consequence, or how it is known; absent if the message has it.
  std::optional<std::string> reason{};
  std::optional<std::string> check{};  ///< short name of the check; absent for a rule

  /// Returns `problem` as a warning.
  static Problem warning(Problem problem);

  /// Returns the message, followed by the reason.
  std::string text() const { return reason ? message + ": " + *reason : message; }
};

/// Returns the name in `--format=json`.
std::string_view to_string(Problem::Severity severity);

using Problems = std::vector<Problem>;

void append(Problems& all, Problems more);

bool has_errors(const Problems& problems);

/// The only exception type of this project. cli/ catches it in one place.
class Error : public std::exception {
public:
  Error(ErrorKind kind, std::string message);
  /// All findings of a check as one error; `problems` must contain an error.
  Error(ErrorKind kind, Problems problems);

  Error& hint(std::string text) &;
  Error&& hint(std::string text) &&;
  /// Adds a cause below the existing ones.
  Error& cause(std::string text) &;
  Error&& cause(std::string text) &&;
  /// Makes `what` the message; the old message becomes the outermost cause.
  void wrap(std::string what);

  ErrorKind kind() const { return kind_; }

  const std::string& message() const { return message_; }

  const std::vector<std::string>& causes() const { return causes_; }

  const std::vector<std::string>& hints() const { return hints_; }

  /// Returns the findings if the error combines several, else an empty list.
  const Problems& problems() const { return problems_; }

  /// The same, but a single error becomes one finding, with its causes as the reason.
  Problems as_problems() const;

  const char* what() const noexcept override { return message_.c_str(); }

private:
  ErrorKind kind_;
  std::string message_;
  std::vector<std::string> causes_;
  std::vector<std::string> hints_;
  Problems problems_;
};

/// Throws Error(kind) that lists every error in `problems`; returns if there are none.
void throw_if_errors(const Problems& problems, ErrorKind kind);

/// Runs `step`; wraps an Error that leaves it into an error with the message `what`.
template <class Step>
auto with_context(const std::string& what, Step&& step) {
  try {
    return std::forward<Step>(step)();
  } catch (Error& error) {
    error.wrap(what);
    throw;
  }
}

}  // namespace autopack
