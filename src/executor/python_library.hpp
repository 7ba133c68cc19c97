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

/// How an interpreter was built.
struct PythonBuild {
  std::string abi_flags{};
  std::string library_name{"lib"};  ///< sys.platlibdir: `lib64`
};

/// The virtual environment that `program`, as PATH has it, belongs to; none when it does not.
std::optional<VirtualEnvironment> find_virtual_environment(ImageView& view,
                                                           const std::string& program);

/// The library of the interpreter `file` (links followed) by its landmark `os.py`, from `directory`
/// upwards, as the interpreter looks for it; `versions` are those that stand in `file`. None when
/// it is not there, or when several are and the name does not tell.
std::optional<PythonLibrary> find_python_library(ImageView& view,
                                                 const std::string& file,
                                                 const std::vector<std::string>& versions,
                                                 const std::string& directory);

/// Where most interpreters have what is asked of them: of `file`, which has its version in its
/// name, what find_python_library(), find_build() and find_scheme() will read. Empty for other
/// names.
std::vector<std::string> usual_files(const std::string& file, const std::string& multiarch);

/// Where such an interpreter has what is installed, unless it runs in a virtual environment.
std::vector<std::string> usual_site_directories(const std::string& file);

/// What sysconfig's data tell, else what names tell. `multiarch` is `x86_64-linux`.
PythonBuild find_build(ImageView& view, const PythonLibrary& library, const std::string& multiarch);

}  // namespace autopack::executor
