#pragma once

#include "base/descriptor.hpp"
#include "services/services.hpp"

#include <optional>

namespace autopack::cli {

/// A job that goes on when the command that began it has ended: another process of autopack does
/// all of the work, and this one waits only until the job has a name.
class Detached {
public:
  /// Starts this command line again, and waits until the job there has begun or failed to. The exit
  /// status; none when this process is that other one, which has the work to do. Throws
  /// Error(environment).
  std::optional<int> leave_to_another(Services& services);
  /// In that other process: the job has begun. From here on it has no terminal, and nobody waits.
  /// Nothing elsewhere.
  void let_go();

private:
  FileDescriptor waiting_{-1};  ///< somebody waits at its other end
};

}  // namespace autopack::cli
