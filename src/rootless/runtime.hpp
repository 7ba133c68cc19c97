#pragma once

#include "base/environment.hpp"
#include "rootless/confined_process.hpp"
#include "rootless/program.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::rootless {

/// A program of this machine that starts a program in the root file system of an image.
class Runtime {
public:
  virtual ~Runtime() = default;
  virtual const std::string& name() const = 0;
  /// Returns how to start `program` in the directory `root`. Keeps files in `scratch`, a directory
  /// of this run alone. The values of variables are in no command line.
  virtual Confined start(const Program& program,
                         const std::filesystem::path& root,
                         const std::filesystem::path& scratch) = 0;
};

/// Returns the runtime that is installed and works here: bubblewrap, which does the least, else
/// crun, else runc; podman depends on one of these. Throws Error(environment) that names the
/// packages to install, or why none of the installed ones works.
std::unique_ptr<Runtime> find_runtime(const Environment& environment);

/// Returns the options of bwrap for `program`, without the program's own words.
std::vector<std::string> bubblewrap_options(const Program& program,
                                            const std::filesystem::path& root);

/// Returns the `config.json` of an OCI bundle for `program`. Its user is always root, who is this
/// user outside.
std::string bundle_configuration(const Program& program, const std::filesystem::path& root);

}  // namespace autopack::rootless
