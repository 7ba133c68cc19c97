#pragma once

#include "base/report.hpp"
#include "engine/docker.hpp"
#include "rootless/runtime.hpp"
#include "rootless/unpacked_image.hpp"

#include <filesystem>

namespace autopack::rootless {

/// Runs `program` in `image` to its end, forwards signals and the terminal's size, and discards
/// what it changed. `directory` is that of the UnpackedLayers. Returns the exit status.
int run(Runtime& runtime,
        const UnpackedImage& image,
        const Program& program,
        const std::filesystem::path& directory,
        const engine::ContainerStreams& streams,
        const Cancellation* cancellation);

}  // namespace autopack::rootless
