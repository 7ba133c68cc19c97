#pragma once

#include "base/descriptor.hpp"
#include "services/services.hpp"

#include <optional>

namespace autopack::cli {

/// A job that continues after the command that started it: another process of autopack does all of
/// the work, and this one waits only until the job has a name.
class Detached {
public:
  /// Starts this command line again, and waits until its job has started or failed. Returns the
  /// exit status, or nothing in the process that was started, which has to do the work. Throws
  /// Error(environment).
  std::optional<int> leave_to_another(Services& services);
  /// In that other process, reports that the job has started and detaches from the terminal. Does
  /// nothing otherwise.
  void let_go();

private:
  FileDescriptor waiting_{-1};  ///< somebody waits at its other end
};

}  // namespace autopack::cli
