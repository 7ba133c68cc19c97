#pragma once

#include "build/direct/assembly.hpp"
#include "build/wheels/gpu_code.hpp"
#include "build/wheels/installed_wheels.hpp"
#include "build/wheels/own_package.hpp"
#include "build/wheels/wheel_layers.hpp"
#include "build/wheels/wheel_source.hpp"
#include "executor/python_facts.hpp"
#include "executor/remembered/repository_facts.hpp"
#include "lock/locked_set.hpp"
#include "packaging/image.hpp"
#include "packaging/lazy_image.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::build {

/// The wheels of a dependency image and their layers, for reports and for the facts that a
/// repository remembers.
class WheelSet {
public:
  WheelSet() = default;

  /// `layers` were made from `recipes`, for `place`. `texts` are further texts to remember.
  /// `installed` are the records of the wheels.
  WheelSet(const WheelRecipes& recipes,
           const std::vector<RecipeLayer>& layers,
           wheel::Place place,
           std::map<std::string, std::string> texts,
           InstalledWheels installed);

  /// Returns what happened to them when `sent`, the layers above the executor image, went to the
  /// registry.
  packaging::MovedWheels moved(Services& services,
                               const std::vector<packaging::SentLayer>& sent) const;

  /// Returns how many of the wheels are in layers that the repository already had according to its
  /// facts, unread.
  std::size_t remembered() const;

  /// Caches which packages are in the layers that this run made, from their wheels: for a bill of
  /// materials, they need not be read again. The layers must have been sent or read.
  void survey_new_layers(const Services& services) const;

  /// Returns new facts about the wheels and `executor`, the image below them, for other machines,
  /// once the layers were sent. `services` must outlive it.
  RepositoryFacts::FindNewFacts new_facts(const Services& services,
                                          const image::BaseFacts& executor) const;

private:
  struct Layer {
    std::string key{};
    std::shared_ptr<std::optional<image::LayerFacts>> facts{};
    std::vector<std::size_t> wheels{};
    bool is_remembered{false};
    bool is_new{false};                        ///< made in this run
    std::optional<wheel::LayerGroup> group{};  ///< WheelRecipes::groups
  };

  std::vector<Layer> layers_{};
  std::shared_ptr<const std::vector<wheel::ChosenWheel>> wheels_{};
  wheel::Place place_{};
  std::map<std::string, std::string> texts_{};
  InstalledWheels installed_{};
};

/// Returns why the plan of `work` requires an engine for its requirements, one line each; empty if
/// wheels may be enough.
std::vector<std::string> obstacles_to_wheels(const packaging::Packaging& work);

/// The packages to install, and the target.
struct Requirements {
  executor::PythonFacts facts{};         ///< of the executor image; with a set, of its interpreter
  FoundOwnPackage own{};                 ///< its requirements are among those of the set
  std::optional<lock::LockedSet> set{};  ///< absent: only an engine can resolve them
  std::vector<std::string> obstacles{};  ///< the reasons, one line each
  bool may_resolve{false};               ///< no lock decides, so that a resolver may
  std::optional<std::int64_t> resolved_at{};        ///< when it did, in seconds since 1970
  std::map<std::string, std::string> remembered{};  ///< the resolution, for the repository
};

/// Returns the selection of `work`'s lock, or of the pins in its requirement files, its extra
/// packages and its package `own`, for the Python in `facts`, that of its executor image. Throws
/// Error(project) if the lock is unreadable or not for that Python.
Requirements find_requirements(const packaging::Packaging& work,
                               executor::PythonFacts facts,
                               FoundOwnPackage own);

/// The expected way to install the requirements of `work`, as far as this machine knows.
struct ExpectedInstallation {
  /// A package whose file a lock or a resolution names.
  struct Sized {
    std::string name{};
    std::string version{};
    std::string host{};     ///< that has the file; empty: an index of the settings
    std::uint64_t size{0};  ///< of the file, compressed
    /// Names of the packages that require it, sorted, from the wheels that this machine has seen.
    std::vector<std::string> required_by{};
  };

  /// Why an engine is required, one line each; empty: as layers of wheels.
  std::vector<std::string> obstacles{};
  std::optional<std::string> byte_code{};  ///< who makes their byte code; absent: nobody
  std::size_t packages{0};   ///< number of pinned ones; 0 if the executor image is not known yet
  bool resolves{false};      ///< uv chooses their versions first
  bool own{false};           ///< the project's own package is included
  bool own_is_built{false};  ///< its files alone do not determine it
  /// Packages that are built first, as far as known: `` `counter` (a source distribution)``.
  std::vector<std::string> built{};
  std::vector<Sized> sized{};            ///< sorted by name
  std::vector<InstalledWheel> wheels{};  ///< those whose files a lock or a resolution names
};

ExpectedInstallation expected_installation(Services& services, const packaging::Packaging& work);

/// A dependency image made from wheels.
struct WheelImage {
  std::unique_ptr<packaging::LazyImage> image{};  ///< null if an engine is required
  std::vector<std::string> obstacles{};           ///< the reasons; empty if there is an image
  bool is_incomplete{false};                      ///< the set lacks packages that it requires
  WheelSet wheels{};
};

/// Puts the requirements of `work` as layers of wheels on `base`, its executor image: what pip
/// would install there, chosen from its indexes and verified, without running anything. Fetches
/// wheels only for layers that must be made; if the request is strict, all layers are made and
/// `services.repository_facts` is empty afterwards. Builds packages without a wheel, if `policy`
/// has a build. Versions that are left open are resolved first if the request has such a resolver.
/// Uses cached choices unless they must be fresh. `work` must outlive the image. Throws as an index
/// does, and for an invalid wheel; an unreachable index is an obstacle.
WheelImage make_wheel_image(Services& services,
                            const packaging::Packaging& work,
                            image::Source base,
                            const WheelPolicy& policy);

}  // namespace autopack::build
