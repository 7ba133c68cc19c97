#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::sbom {

/// A package in the database of dpkg or apk.
struct SystemPackage {
  std::string name{};
  std::string version{};
  std::string architecture{};            ///< empty if unknown
  std::string source{};                  ///< name of the source package, if it is another one
  std::string source_version{};          ///< if it is another one
  std::optional<std::string> licence{};  ///< as the database says

  bool operator==(const SystemPackage&) const = default;
};

/// The limit of packages in one database.
inline constexpr std::size_t most_packages{200'000};

/// Returns the installed packages in dpkg's `status` or in a file of `status.d`. Skips a paragraph
/// without name or version, and packages of which only settings are left.
std::vector<SystemPackage> read_dpkg_status(std::string_view text);

/// Returns the packages in apk's `installed`, in the same manner.
std::vector<SystemPackage> read_apk_installed(std::string_view text);

/// Returns the lines of a database that read_dpkg_status() or read_apk_installed() uses.
std::string shortened_dpkg_status(std::string_view text);
std::string shortened_apk_installed(std::string_view text);

/// The metadata of a Python distribution.
struct PythonMetadata {
  std::string name{};     ///< as written
  std::string version{};  ///< empty if unknown
  std::optional<std::string> licence_expression{};
  std::optional<std::string> licence{};            ///< the field's text, if it is one line
  std::vector<std::string> licence_classifiers{};  ///< those that begin with `License ::`

  bool operator==(const PythonMetadata&) const = default;
};

/// Returns what METADATA or PKG-INFO says before its first empty line; nothing without a name.
std::optional<PythonMetadata> read_python_metadata(std::string_view text);

/// Returns the lines that read_python_metadata() uses.
std::string shortened_python_metadata(std::string_view text);

/// Returns the values of `os-release`, by name and without quotes.
std::map<std::string, std::string> read_os_release(std::string_view text);

/// Where pip found a distribution that it did not choose from an index (PEP 610).
struct DirectUrl {
  std::string url{};  ///< without a login
  std::optional<std::string> commit{};

  bool operator==(const DirectUrl&) const = default;
};

/// Returns what a `direct_url.json` says; nothing if it is damaged or names a local directory.
std::optional<DirectUrl> read_direct_url(std::string_view text);

}  // namespace autopack::sbom
