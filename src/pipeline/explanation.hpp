#pragma once

#include "gpu/fit.hpp"
#include "packaging/packaging.hpp"
#include "pipeline/advice.hpp"
#include "services/services.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// A layer, or several of the base together.
struct ExplainedLayer {
  std::string name{};
  std::optional<Digest> digest{};  ///< absent until it is made
  std::uint64_t size{0};           ///< compressed, as transferred; of its files without a digest
  std::size_t count{1};            ///< number of layers in this line
  std::optional<bool> upload{};    ///< absent: unknown without the registry
};

/// Paths that one rule excludes from the image.
struct LeftOut {
  struct Path {
    std::string path{};  ///< a directory's ends with a slash
    std::uint64_t size{0};
    bool is_least{false};  ///< the real size is larger
  };

  std::string rule{};  ///< as written
  std::string file{};
  std::optional<int> line{};  ///< absent for autopack's own, and for flags
  std::size_t count{0};
  std::uint64_t size{0};
  bool is_least{false};
  std::vector<Path> paths{};  ///< largest first
};

/// A file that is included although git ignores it.
struct Kept {
  std::string path{};
  std::string why{};
};

/// The expected upload, as far as it is known.
struct ExpectedUpload {
  std::optional<std::string> destination{};  ///< repository; absent: the image stays in the engine
  std::optional<std::string> unknown{};      ///< why the registry could not say
  bool image_is_there{false};
  bool dependencies_are_there{false};
  std::uint64_t bytes{0};  ///< at least
  bool exact{true};        ///< false: more will follow, whose size only a build determines
};

/// How dependencies are installed.
struct Installer {
  std::string name{};  ///< `wheels`, `docker`
  std::string text{};  ///< for people: how many, or why an engine is needed
};

/// A package that is installed.
struct ExplainedPackage {
  std::string name{};
  std::string version{};
  std::string host{};  ///< that has its file; empty: an index of the settings
  /// `requirements.txt:3`; empty if only other packages require it; absent if a lock does not say.
  std::optional<std::string> origin{};
  std::vector<std::string> required_by{};  ///< names of packages, as far as known; sorted
  std::uint64_t size{0};                   ///< of its file, compressed
};

/// What Cloud Build would do.
struct ExplainedCloudBuild {
  std::string why{};
  std::string project{};
  std::string region{};
  std::string bucket{};
  std::size_t files{0};  ///< that it gets

  /// Returns "project `p`, region `r`, gets 12 files in gs://b: WHY".
  std::string text() const;
};

/// Returns what Cloud Build would do for `work`, as far as that is known without a request; nothing
/// if it is not chosen or not needed.
std::optional<ExplainedCloudBuild> explain_cloud_build(Services& services,
                                                       const packaging::Packaging& work);

/// A library with GPU code in the image.
struct ExplainedLibrary {
  std::string package{};
  std::string version{};  ///< empty: unknown
  bool is_of_executor{false};
  gpu::Library library{};
  std::vector<gpu::Fit> fits{};   ///< of each of ExplainedGpu::devices
  std::uint64_t unused_bytes{0};  ///< of code that runs on none of them
};

/// The GPU code of the image, as far as somebody has read it.
struct ExplainedGpu {
  std::vector<gpu::Device> devices{};
  std::vector<ExplainedLibrary> libraries{};  ///< largest first
  std::vector<std::string> unread{};          ///< names of wheels
  bool is_executor_unread{false};
};

struct Explanation {
  std::vector<ExplainedLayer> layers{};
  std::vector<LeftOut> left_out{};
  std::vector<Kept> kept{};
  ExpectedUpload upload{};
  packaging::Outcome image{};
  std::optional<packaging::Outcome> dependencies{};
  std::string engine{};                     ///< `direct`, `docker`, `cloud-build`
  std::optional<std::string> engine_why{};  ///< why not the direct one
  /// How the dependencies are installed; absent if there are none, or if it is not known yet.
  std::optional<Installer> installer{};
  std::vector<ExplainedPackage> packages{};  ///< largest first; those with a known size
  std::optional<ExplainedCloudBuild> cloud_build{};
  ExplainedGpu gpu{};
  Problems advice{};
};

/// Predicts what packaging would do, without doing it. Asks the registry if there is one; if it
/// does not respond, the explanation states that. The findings are those of `adviser`.
Explanation explain(Services& services, const packaging::Packaging& work, Adviser& adviser);

/// Returns the exclusions of rules, largest first. Measures sizes only up to a limit.
std::vector<LeftOut> find_left_out(const packaging::Packaging& work);

}  // namespace autopack::pipeline
