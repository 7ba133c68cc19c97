#pragma once

#include "lock/locked_set.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::lock {

/// A package of a lock, of which nothing is known but this. Throws Error(project) when one of them
/// cannot be read.
LockedPackage start_package(std::string_view name,
                            std::optional<std::string_view> version,
                            const std::string& place);

/// Adds a file of an archive format that pip knows. Throws Error(project) when it is a wheel of
/// another package or version. A URL with a login, or one that is no server's, makes the package
/// one for the engine.
void add_file(LockedPackage& package, LockedFile file);

/// True for a URL of a server: any other names a file of this machine, as a path does.
bool is_remote_url(std::string_view url);

/// `path`, which stands in the lock at `lock`, as a path of the tree; none when it leads out of it.
std::optional<std::string> path_beside(const std::string& lock, std::string_view path);

/// Makes the path of a file in the tree known, or the package one for the engine.
void set_path(LockedPackage& package,
              LockedFile& file,
              const std::string& lock,
              std::string_view path);

/// Makes the directory of the tree known that the package is built from, or the package one for the
/// engine.
void set_directory(LockedPackage& package, const std::string& lock, std::string_view path);

/// A hash that the lock must have: throws Error(project) when `text` is none.
python::Hash read_hash(std::string_view text, const std::string& place);

/// The URL of an index without its login; none when it holds a variable.
std::optional<std::string> index_url(std::string_view url);

/// Settles what is known of the set as a whole once all packages are in it: their order, whether
/// all files have hashes. Throws Error(project) when a name is there twice.
void finish(LockedSet& set);

}  // namespace autopack::lock
