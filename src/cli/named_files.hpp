#pragma once

#include "base/environment.hpp"
#include "base/error.hpp"

#include <optional>
#include <string>

namespace autopack::cli {

/// The text of a file that `flag` names. Throws Error(usage) when it does not exist.
std::string read_named_file(const std::string& flag, const std::string& file);

/// A file that was read, and how messages name it.
struct NamedFile {
  std::string name{};  ///< `job.yaml`, or as git names it: `HEAD:job.yaml`
  std::string text{};
  /// The command that prints it; none when it is on the disk.
  std::optional<std::string> printed_by{};
};

/// The same as `source` has it, when the file lies in the repository of this directory. One that
/// only the disk has is taken from there, with a warning.
NamedFile read_named_file(const std::string& flag,
                          const std::string& file,
                          const std::string& source,
                          const Environment& environment,
                          Problems& warnings);

/// Warns of `file`, which was read from the disk, when `source` has another or none.
void warn_if_other(const NamedFile& file,
                   const std::string& source,
                   const Environment& environment,
                   Problems& warnings);

}  // namespace autopack::cli
