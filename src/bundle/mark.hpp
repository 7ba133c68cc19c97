#pragma once

namespace autopack::bundle {

/// The annotation of a bundle by autopack: the digest of the configuration of its image, which is
/// the same in every registry.
inline constexpr auto* image_annotation = "autopack.image";

}  // namespace autopack::bundle
