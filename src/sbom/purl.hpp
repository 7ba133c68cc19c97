#pragma once

#include "base/digest.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::sbom {

/// The parts of a package URL (purl-spec); parts may contain any bytes.
struct PackageUrl {
  std::string type{};   ///< `deb`
  std::string space{};  ///< `debian`; empty: none. Its components are separated by `/`
  std::string name{};
  std::string version{};                            ///< empty: none
  std::map<std::string, std::string> qualifiers{};  ///< empty values are left out
};

/// Returns `pkg:deb/debian/libc6@2.36-9?arch=amd64`.
std::string to_text(const PackageUrl& url);

/// Returns the purl of a Python distribution with the name in its metadata.
std::string python_purl(std::string_view name, std::string_view version);

/// An image for image_purl().
struct ImageName {
  std::string repository{};  ///< `host/path/name`, or `path/name`
  bool is_in_registry{false};
  std::string digest{};  ///< empty if unknown
  std::optional<std::string> tag{};
  std::string platform{};  ///< `linux/amd64`
};

/// Returns the purl of an image, of type `oci`.
std::string image_purl(const ImageName& image);

/// Returns the purl of a project, of type `generic`; `location` is that of its git repository, as
/// git_location() returns it.
std::string project_purl(const std::string& name,
                         const std::string& version,
                         const std::optional<std::string>& location);

/// Returns the address of a commit as SPDX and purls write it, `git+https://HOST/PATH@COMMIT`;
/// nothing if `remote` is not the URL of a repository that others can reach.
std::optional<std::string> git_location(const std::string& remote,
                                        const std::optional<std::string>& commit);

}  // namespace autopack::sbom
