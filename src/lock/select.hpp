#pragma once

#include "lock/locked_set.hpp"
#include "python/tags.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace autopack::lock {

/// A file of a distribution that may be taken.
struct Candidate {
  std::string name{};
  std::vector<python::Hash> hashes{};
  std::optional<std::string> requires_python{};  ///< conditions
  bool yanked{false};
};

/// Which of the candidates is taken.
struct Selection {
  std::optional<std::size_t> chosen{};  ///< its place
  std::optional<std::size_t> source{};  ///< the place of a source distribution, when it has to do
  std::string reason{};                 ///< why there is no wheel, in words
};

/// Chooses files for one interpreter, as pip does for a pinned version: one that is known by its
/// hash, not yanked, the highest version that the pin allows (`1.0` allows `1.0+cpu`), then the
/// best tag, the highest build tag, the first; a source distribution where no wheel does.
class FileChooser {
public:
  explicit FileChooser(const python::Interpreter& interpreter);

  /// Chooses among what indexes offer of `package`. With hashes in `package`, a file must have one
  /// of them; one whose own hashes are not known is taken for possible, for the download to check.
  Selection choose(const LockedPackage& package, std::span<const Candidate> candidates) const;

  /// Chooses among the files of `package` itself.
  Selection choose(const LockedPackage& package) const;

  /// Why nothing of it can be taken: the obstacle of `package` itself, or that no file of it fits;
  /// none when one does, or when its files are not known before an index is asked.
  std::optional<std::string> obstacle(const LockedPackage& package) const;

private:
  bool is_for_python(const std::optional<std::string>& conditions) const;

  python::AcceptedTags tags_;
  python::Version version_;
  std::string target_;  ///< `cp311 manylinux_2_36_x86_64`
};

/// The files of `package` as candidates.
std::vector<Candidate> candidates_of(const LockedPackage& package);

}  // namespace autopack::lock
