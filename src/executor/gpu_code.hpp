#pragma once

#include "gpu/fit.hpp"
#include "gpu/library_code.hpp"
#include "image/facts.hpp"
#include "image/layer_tree.hpp"
#include "services/services.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::executor {

/// Limit of the bytes of an image in which GPU code is searched: more than the libraries of the
/// largest training images.
inline constexpr std::uint64_t most_read_for_gpu_code{std::uint64_t{32} << 30U};

/// Returns a function that returns the GPU code of a shared library as an excerpt for
/// gpu_libraries(); nothing if the file is none, or has no such code. After reading `most_read`
/// bytes of all files together, it takes every further library as damaged, unread.
image::TakeExcerpt excerpts_of_gpu_code(std::uint64_t most_read = most_read_for_gpu_code);

/// Returns the libraries with GPU code in layers that were read with these excerpts.
std::vector<gpu::Library> gpu_libraries(const image::LayerTree& tree);

/// Caches the libraries of the image `base`.
void cache_gpu_libraries(const Services& services,
                         const image::BaseFacts& base,
                         const std::vector<gpu::Library>& libraries);

/// The key of their text in a repository.
inline constexpr auto* gpu_libraries_key = "gpu-code";

/// Returns their cached text; nothing if this machine has not read the layers of `base`.
std::optional<std::string> cached_gpu_libraries(const Services& services,
                                                const image::BaseFacts& base);

/// Returns the libraries with GPU code in the image `base`: those cached, else those that the
/// target repository remembers; nothing if nobody has read its layers.
std::optional<std::vector<gpu::Library>> known_gpu_libraries(Services& services,
                                                             const image::BaseFacts& base);

/// Returns the packages of Python that `libraries` belong to, with the versions that the image of
/// `base` has, as far as they are known. Libraries outside of packages are in one without a name.
std::vector<gpu::Package> gpu_packages(Services& services,
                                       const image::BaseFacts& base,
                                       const std::vector<gpu::Library>& libraries);

}  // namespace autopack::executor
