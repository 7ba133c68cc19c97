#pragma once

#include "lock/locked_set.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::lock {

/// Returns a package with only these properties. Throws Error(project) if one of them is invalid.
LockedPackage start_package(std::string_view name,
                            std::optional<std::string_view> version,
                            const std::string& place);

/// Adds a file if pip knows its archive format. Throws Error(project) if it is a wheel of another
/// package or version. If the URL contains a login, or is not on a server, marks the package as
/// needing the engine.
void add_file(LockedPackage& package, LockedFile file);

/// True for a URL on a server; any other URL names a file of this machine, as a path does.
bool is_remote_url(std::string_view url);

/// Resolves `path`, which is relative to the lock at `lock`, to a path in the tree; returns nothing
/// if it leads outside.
std::optional<std::string> path_beside(const std::string& lock, std::string_view path);

/// Sets the path of a file in the tree; if it is outside, marks the package as needing the engine.
void set_path(LockedPackage& package,
              LockedFile& file,
              const std::string& lock,
              std::string_view path);

/// Sets the directory in the tree that the package is built from; if it is outside, marks the
/// package as needing the engine.
void set_directory(LockedPackage& package, const std::string& lock, std::string_view path);

/// Parses a hash that the lock must have; throws Error(project) if `text` is not a hash.
python::Hash read_hash(std::string_view text, const std::string& place);

/// Returns the URL of an index without its login, or nothing if it contains a variable.
std::optional<std::string> index_url(std::string_view url);

/// Sorts the complete set and checks whether all files have hashes. Throws Error(project) if a name
/// appears twice.
void finish(LockedSet& set);

}  // namespace autopack::lock
