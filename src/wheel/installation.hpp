#pragma once

#include "python/interpreter.hpp"
#include "wheel/wheel.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::wheel {

/// A file that installing a wheel writes.
struct InstalledFile {
  std::string path{};             ///< in the image, without a slash at its begin
  unsigned mode{0644};            ///< 0644 or 0755
  const Member* member{nullptr};  ///< of the wheel, whose bytes it has; null: `bytes`
  std::string bytes{};
};

/// What an installation depends on besides the wheel and the interpreter.
struct InstallOptions {
  /// What stands behind the scheme's headers: the name as it was asked for. None: as the wheel's
  /// file is called, with `-` for `_`.
  std::optional<std::string> header_name{};
  bool is_requested{false};                 ///< the user named it: nothing else needs it
  std::optional<std::string> direct_url{};  ///< text of direct_url.json, if it is to be written
};

/// The files that pip writes when it installs `wheel` for `interpreter`, without byte code: those
/// of the wheel in their order there, then those that are made. INSTALLER names autopack, and
/// scripts can be run whatever their mode in the wheel. They hold pointers into `wheel`. Throws
/// Error(project) that says why it cannot be installed: its METADATA may require another Python.
std::vector<InstalledFile> install(const Wheel& wheel,
                                   const python::Interpreter& interpreter,
                                   const InstallOptions& options = {});

/// How many bytes of `file` there are.
std::uint64_t size_of(const InstalledFile& file);

}  // namespace autopack::wheel
