#pragma once

#include "base/secret.hpp"
#include "image/facts.hpp"
#include "packaging/request.hpp"
#include "python/interpreter.hpp"
#include "services/services.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::executor {

/// A distribution in an image.
struct InstalledDistribution {
  std::string name{};                      ///< PEP 503
  std::optional<std::string> version{};    ///< as written; absent if unknown
  std::string directory{};                 ///< one of PythonFacts::search_path
  std::optional<std::string> installer{};  ///< `pip`, `conda`; absent if unknown
  /// Why it cannot be removed: no list of its files, or not in a directory that installations write
  /// to. Absent if it can be removed.
  std::optional<std::string> kept_by{};

  bool removable() const { return !kept_by; }

  bool operator==(const InstalledDistribution&) const = default;
};

/// A settings file of pip in an image.
struct PipFile {
  std::string path{};
  Secret text{};

  bool operator==(const PipFile&) const = default;
};

/// The facts about the Python of an executor image, found without running it.
struct PythonFacts {
  std::optional<python::Interpreter> interpreter{};
  /// Why the interpreter is unknown; absent if it is known.
  std::optional<std::string> obstacle{};
  /// Settings that may redirect the interpreter but do not affect installations, in words.
  std::vector<std::string> remarks{};
  /// Directories of sys.path for packages, in its order, PYTHONPATH first.
  std::vector<std::string> search_path{};
  /// In the order of search_path: Python imports the first of each name.
  std::vector<InstalledDistribution> installed{};
  /// Existing directories of the scheme and their parents; sorted.
  std::vector<std::string> directories{};
  std::vector<PipFile> pip_files{};  ///< later files override earlier ones
  /// The index of the image's pip if nothing names one; absent if it has no pip.
  std::optional<std::string> default_index{};
  std::size_t layers{0};
};

/// The absolute paths of the files of each of PythonFacts::installed: those of its RECORD, and
/// their existing compiled files. Empty if it cannot be removed.
using InstalledFiles = std::vector<std::vector<std::string>>;

/// The `Requires-Dist` lines of each of PythonFacts::installed.
using InstalledRequirements = std::vector<std::vector<std::string>>;

struct PythonSurvey {
  PythonFacts facts{};
  InstalledFiles files{};
  InstalledRequirements requirements{};
};

/// The sources for reading the files of an image.
enum class ImagePlaces { engine_or_layers, layers };

/// Returns the sources that `request` allows: no engine with `--engine=direct`.
ImagePlaces image_places(const packaging::Request& request);

/// Returns the facts of the Python of the image `base`: from the cache; else from those that the
/// target repository remembers; else from the engine's copy of it, if `places` allow it, through a
/// container that is never started; else from its layers, in files or its registry. Pulls nothing.
/// Throws Error(remote, environment) if neither is readable.
PythonFacts python_facts(Services& services, const image::BaseFacts& base, ImagePlaces places);

/// The same from the cache alone; nothing if the image was never surveyed.
std::optional<PythonFacts> known_python(Services& services, const image::BaseFacts& base);

/// Returns the files of the distributions in python_facts. They are stored separately, because they
/// are many, and needed only to remove a distribution.
InstalledFiles installed_files(Services& services,
                               const image::BaseFacts& base,
                               ImagePlaces places);

/// Returns what the distributions in python_facts require, stored separately as well: only a
/// resolution needs it.
InstalledRequirements installed_requirements(Services& services,
                                             const image::BaseFacts& base,
                                             ImagePlaces places);

}  // namespace autopack::executor
