#pragma once

#include "base/secret.hpp"
#include "image/facts.hpp"
#include "image/layer_tree.hpp"
#include "image/source.hpp"
#include "packaging/request.hpp"
#include "python/interpreter.hpp"
#include "services/services.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::executor {

/// A distribution that an image brings along.
struct InstalledDistribution {
  std::string name{};                      ///< PEP 503
  std::optional<std::string> version{};    ///< as it was written; none when not told
  std::string directory{};                 ///< one of PythonFacts::search_path
  std::optional<std::string> installer{};  ///< `pip`, `conda`; none when not told
  /// Why it cannot be taken away: no list of its files, or another directory than installations
  /// write to. None: it can.
  std::optional<std::string> kept_by{};

  bool removable() const { return !kept_by; }

  bool operator==(const InstalledDistribution&) const = default;
};

/// A settings file of pip that an image carries.
struct PipFile {
  std::string path{};
  Secret text{};

  bool operator==(const PipFile&) const = default;
};

/// What is known of the Python of an executor image without running it.
struct PythonFacts {
  std::optional<python::Interpreter> interpreter{};
  /// Why it cannot be told; none when `interpreter` is there.
  std::optional<std::string> obstacle{};
  /// What may lead the interpreter elsewhere and does no harm to installations, in words.
  std::vector<std::string> remarks{};
  /// Directories of sys.path that packages lie in, in its order, PYTHONPATH first.
  std::vector<std::string> search_path{};
  /// In the order of search_path: the first of a name is the one that is imported.
  std::vector<InstalledDistribution> installed{};
  /// Of the directories of the scheme and those above them, those that exist; sorted.
  std::vector<std::string> directories{};
  std::vector<PipFile> pip_files{};  ///< a later one overrules the earlier ones
  /// What the image's pip asks where nothing names an index; none when it has no pip.
  std::optional<std::string> default_index{};
  std::size_t layers{0};
};

/// The absolute paths of the files of each of PythonFacts::installed: those of its RECORD, and
/// their compiled files that exist. Of one that is not removable: none.
using InstalledFiles = std::vector<std::vector<std::string>>;

struct PythonSurvey {
  PythonFacts facts{};
  InstalledFiles files{};
};

/// Where the files of an image may be read.
enum class ImagePlaces { engine_or_layers, layers };

/// The places that `request` allows: no engine with `--engine=direct`.
ImagePlaces image_places(const packaging::Request& request);

/// The facts of the Python of the image `base`: from the cache; else from the engine's copy of it,
/// if `places` allow that and there is one, by way of a container that is never started; else from
/// its layers, in files or its registry. Nothing is pulled. Throws Error(remote, environment) when
/// neither can be read.
PythonFacts python_facts(Services& services, const image::BaseFacts& base, ImagePlaces places);

/// The same from the cache alone; none when the image was never looked into.
std::optional<PythonFacts> known_python(Services& services, const image::BaseFacts& base);

/// The files of the distributions of python_facts, which are kept apart from the facts: they are
/// many, and needed only to take a distribution away.
InstalledFiles installed_files(Services& services,
                               const image::BaseFacts& base,
                               ImagePlaces places);

/// Keeps what `tree`, read with note_for_python, tells of the Python of `base`: python_facts then
/// reads no layer again.
void remember_python(Services& services,
                     const image::BaseFacts& base,
                     const image::LayerTree& tree,
                     std::size_t layers);

}  // namespace autopack::executor
