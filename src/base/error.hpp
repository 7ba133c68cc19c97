#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
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
  /// Unknown: the check could not be made, which says nothing and blocks nothing. Ok: what was
  /// checked is as it should be.
  enum class Severity { error, warning, unknown, ok };  // the gravest first

  Severity severity{Severity::error};
  std::string message{};  ///< lower case, no final period, names the thing in backticks
  std::optional<std::string> origin{};  ///< where the wrong value came from
  std::vector<std::string> hints{};     ///< remedies, as commands where possible
  /// What comes of it, or how it is known; none when the message says it.
  std::optional<std::string> reason{};
  std::optional<std::string> check{};  ///< short name of the check that found it; none for a rule

  /// The message and the reason after it.
  std::string text() const { return reason ? message + ": " + *reason : message; }
};

/// Name as it stands in `--format=json`.
std::string_view to_string(Problem::Severity severity);

using Problems = std::vector<Problem>;

void append(Problems& all, Problems more);

bool has_errors(const Problems& problems);

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

  /// The same, and for an error of its own one finding whose reason is the causes.
  Problems as_problems() const;

  const char* what() const noexcept override { return message_.c_str(); }

private:
  ErrorKind kind_;
  std::string message_;
  std::vector<std::string> causes_;
  std::vector<std::string> hints_;
  Problems problems_;
};

/// Throws Error(kind) telling every error in `problems`; returns when there is none.
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
