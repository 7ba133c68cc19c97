#pragma once

#include "executor/image_view.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::executor {

/// The standard library of an interpreter.
struct PythonLibrary {
  std::string prefix{};     ///< sys.base_prefix
  std::string name{};       ///< `python3.11`, `python3.13t`
  std::string version{};    ///< `3.11`
  std::string directory{};  ///< `PREFIX/lib/python3.11`
  std::string program{};    ///< name of the interpreter's file
};

/// A virtual environment (PEP 405).
struct VirtualEnvironment {
  std::string prefix{};
  std::string home{};  ///< directory of the interpreter that it was made from
  bool sees_system{false};
};

/// The build settings of an interpreter.
struct PythonBuild {
  std::string abi_flags{};
  std::string library_name{"lib"};  ///< sys.platlibdir: `lib64`
};

/// Returns the virtual environment of `program`, as found in PATH, or nothing if it is in none.
std::optional<VirtualEnvironment> find_virtual_environment(ImageView& view,
                                                           const std::string& program);

/// Returns the library of the interpreter `file` (links followed). Searches for its landmark
/// `os.py` from `directory` upwards, as the interpreter does; `versions` are the versions found in
/// `file`. Returns nothing if there is none, or if there are several and the name does not decide.
std::optional<PythonLibrary> find_python_library(ImageView& view,
                                                 const std::string& file,
                                                 const std::vector<std::string>& versions,
                                                 const std::string& directory);

/// Returns the files that find_python_library(), find_build() and find_scheme() will read for most
/// interpreters, if the name of `file` contains its version; otherwise empty.
std::vector<std::string> usual_files(const std::string& file, const std::string& multiarch);

/// Returns where such an interpreter installs packages, unless it runs in a virtual environment.
std::vector<std::string> usual_site_directories(const std::string& file);

/// Reads sysconfig's data, else infers from names. `multiarch` is `x86_64-linux`.
PythonBuild find_build(ImageView& view, const PythonLibrary& library, const std::string& multiarch);

}  // namespace autopack::executor
