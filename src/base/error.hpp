#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace autopack {

/// Who can mend it. The exit status follows from it (see exit_status).
enum class ErrorKind {
  usage,        ///< the command line, a configuration file or an environment variable
  project,      ///< the user's project: a missing file, an unreadable requirement
  drift,        ///< a committed file is not what autopack would write
  environment,  ///< this machine: no engine, no permission, no space
  remote,       ///< a service said no or did not answer
  interrupted,  ///< the user stopped it
  internal,     ///< a bug in autopack
};

/// Name as it stands in `--format=json`.
std::string to_string(ErrorKind kind);

/// 2 for usage and project, 3 for drift, 130 for interrupted, else 1.
int exit_status(ErrorKind kind);

/// One finding of a check. A check returns all it found, not the first.
struct Problem {
  enum class Severity { error, warning };

  Severity severity{Severity::error};
  std::string message{};  ///< lower case, no final period, names the thing in backticks
  std::string origin{};   ///< where the wrong value came from; empty when it has no origin
  std::vector<std::string> hints{};  ///< remedies, as commands where possible
};

using Problems = std::vector<Problem>;

/// The one exception of this project; caught once, in cli/.
class Error : public std::exception {
public:
  Error(ErrorKind kind, std::string message);
  /// All findings of a check as one error; `problems` must hold at least one error.
  Error(ErrorKind kind, Problems problems);

  Error& hint(std::string text) &;
  Error&& hint(std::string text) &&;
  /// Adds a cause inside those already there.
  Error& cause(std::string text) &;
  Error&& cause(std::string text) &&;
  /// Makes `what` the message; the message so far becomes its outermost cause.
  void wrap(std::string what);

  ErrorKind kind() const { return kind_; }

  const std::string& message() const { return message_; }

  const std::vector<std::string>& causes() const { return causes_; }

  const std::vector<std::string>& hints() const { return hints_; }

  /// The findings when the error stands for several; otherwise empty.
  const Problems& problems() const { return problems_; }

  const char* what() const noexcept override { return message_.c_str(); }

private:
  ErrorKind kind_;
  std::string message_;
  std::vector<std::string> causes_;
  std::vector<std::string> hints_;
  Problems problems_;
};

/// Throws Error(kind) telling every error in `problems`; returns when all are warnings.
void throw_if_errors(const Problems& problems, ErrorKind kind);

/// Runs `step`; an Error that leaves it is told as a cause of `what`.
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
