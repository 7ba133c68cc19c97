#pragma once

#include "base/environment.hpp"
#include "base/error.hpp"

#include <optional>
#include <string>

namespace autopack::cli {

/// Throws Error(usage) if the directory of `file`, which `flag` names, does not exist: a typo in a
/// path should not make directories.
void require_directory_of(const std::string& flag, const std::string& file);

/// Returns the text of a file that `flag` names. Throws Error(usage) if it does not exist.
std::string read_named_file(const std::string& flag, const std::string& file);

/// A file that was read, and its name for messages.
struct NamedFile {
  std::string name{};  ///< `job.yaml`, or git's name: `HEAD:job.yaml`
  std::string text{};
  /// The command that prints it; absent if it is on the disk.
  std::optional<std::string> printed_by{};
};

/// The same from `source`, if the file is in the repository of this directory. Reads a file that is
/// only on the disk from there, with a warning.
NamedFile read_named_file(const std::string& flag,
                          const std::string& file,
                          const std::string& source,
                          const Environment& environment,
                          Problems& warnings);

/// Warns if `source` has another version of `file`, which was read from the disk, or none.
void warn_if_other(const NamedFile& file,
                   const std::string& source,
                   const Environment& environment,
                   Problems& warnings);

}  // namespace autopack::cli
