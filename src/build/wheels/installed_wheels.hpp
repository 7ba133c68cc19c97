#pragma once

#include "base/digest.hpp"
#include "index/download.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"
#include "wheel/layers.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::build {

/// A wheel in the layers of a dependency image, for documents about the image.
struct InstalledWheel {
  std::string name{};     ///< PEP 503
  std::string version{};  ///< as in the wheel's file name
  std::string file{};     ///< name of the wheel
  Digest digest;          ///< of the wheel
  std::uint64_t size{0};  ///< of the wheel, in bytes
  std::string url{};      ///< without a login; empty if it was built, or is in the project
  bool is_direct{false};  ///< specified by a URL or a path: no index was asked for it
  std::string index{};    ///< the only index asked for it; empty: those of pip's settings

  bool operator==(const InstalledWheel&) const = default;
};

/// The wheels of a dependency image.
struct InstalledWheels {
  std::string dependency_key{};  ///< of the image
  std::vector<InstalledWheel> wheels{};
};

/// Returns the records of `wheels`, sorted by name. `set` contains their packages, `files` where
/// they come from, as far as that is known.
std::vector<InstalledWheel> installed_wheels(const std::vector<wheel::ChosenWheel>& wheels,
                                             const lock::LockedSet& set = {},
                                             const std::map<Digest, index::Download>& files = {});

/// Returns one line of JSON.
std::string to_json(const std::vector<InstalledWheel>& wheels);
/// Returns nothing if `text` is not such a line.
std::optional<std::vector<InstalledWheel>> installed_wheels_from_json(std::string_view text);

/// Returns the key under which this machine records, and a repository remembers, the wheels of a
/// dependency image.
std::string installed_wheels_key(const std::string& dependency_key);

/// Records the wheels of the dependency image with that key on this machine.
void record_installed_wheels(const Services& services,
                             const std::string& dependency_key,
                             const std::vector<InstalledWheel>& wheels);

/// Returns the wheels of the dependency image of `work`: recorded on this machine, else remembered
/// by its repository; nothing if neither knows them, for example because an engine installed them.
std::optional<std::vector<InstalledWheel>> find_installed_wheels(Services& services,
                                                                 const packaging::Packaging& work);

/// Returns the lock that uv made of the open requirements of `work`, as its repository may remember
/// it; nothing if there is none on this machine, or if it names an index with a login.
std::optional<std::string> find_resolution(Services& services, const packaging::Packaging& work);

}  // namespace autopack::build
