#pragma once

#include "python/interpreter.hpp"
#include "wheel/texts.hpp"
#include "wheel/wheel.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::wheel {

/// A file that the installation of a wheel writes.
struct InstalledFile {
  std::string path{};   ///< in the image, without a leading slash
  unsigned mode{0644};  ///< 0644 or 0755
  /// of the wheel, with the file's bytes; if null, `bytes` has them
  const Member* member{nullptr};
  std::string bytes{};
};

/// The input of an installation besides the wheel and the interpreter.
struct InstallOptions {
  /// The last component of the scheme's header directory: the name as the user or another package
  /// asked for it. If absent, the name in the wheel's file name, with `-` for `_`.
  std::optional<std::string> header_name{};
  bool is_requested{false};  ///< the user named it; it is not only a dependency
  /// text of direct_url.json; absent: the file is not written
  std::optional<std::string> direct_url{};
};

/// Returns the files that pip writes when it installs `wheel` for `interpreter`, without byte code:
/// first the wheel's files in its order, then the generated ones. INSTALLER names autopack, and
/// scripts are executable whatever their mode in the wheel. The result points into `wheel`. Throws
/// Error(project) if the wheel cannot be installed, for example because its METADATA requires
/// another Python.
std::vector<InstalledFile> install(const Wheel& wheel,
                                   const python::Interpreter& interpreter,
                                   const InstallOptions& options = {});

/// Returns the size of `file` in bytes.
std::uint64_t size_of(const InstalledFile& file);

/// Returns the text of a launcher as pip 26 writes it for the interpreter at `executable`.
std::string launcher_text(const EntryPoint& entry, std::string_view executable);

/// Returns the launchers that pip makes for `entry_points`. Those of pip and easy_install depend on
/// the version of the interpreter; all others stay as they are.
std::vector<EntryPoint> launchers(const EntryPoints& entry_points, const python::Version& version);

}  // namespace autopack::wheel
