#pragma once

#include "base/error.hpp"

#include <exception>
#include <utility>

namespace autopack {

/// The user stopped the run. It does not derive from Error, so code that handles errors does not
/// catch it.
class Interrupted : public std::exception {
public:
  Interrupted() = default;

  /// `report` has the kind `interrupted`.
  // The report is part of what is thrown. NOLINTNEXTLINE(bugprone-throw-keyword-missing)
  explicit Interrupted(Error report) : report_{std::move(report)} {}

  /// Returns what the user sees.
  const Error& report() const { return report_; }

  const char* what() const noexcept override { return report_.what(); }

private:
  Error report_{ErrorKind::interrupted, "interrupted"};
};

}  // namespace autopack
