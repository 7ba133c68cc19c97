#pragma once

#include "packaging/output.hpp"
#include "packaging/publisher.hpp"
#include "publish/target.hpp"
#include "services/services.hpp"

#include <memory>

namespace autopack::publish {

using PublisherPtr = std::unique_ptr<packaging::Publisher>;

/// Returns a publisher that sends an image assembled here to `target`: first the blobs that the
/// registry may lack, then the manifest under the key's tag, then under the user's own. If the
/// image is already there, it only moves the user's tag.
PublisherPtr to_registry(Services& services, std::shared_ptr<Target> target);

/// Returns a publisher for an image that is already in its registry, under the key's tag: moves the
/// user's tag.
PublisherPtr to_registry_tag(Services& services);

/// Sends `made`, the image of the dependencies of `work`, which was assembled here, to `target`
/// under the tag of its key. Records in `made` the layers that were sent.
Digest push_dependencies(Services& services,
                         const std::shared_ptr<Target>& target,
                         const packaging::Packaging& work,
                         packaging::MadeImage& made);

/// Returns a publisher that makes the docker engine push its image, the user's own tag last.
PublisherPtr to_registry_by_engine(Services& services);

/// Returns a publisher that gives an image in the docker engine the user's own tag.
PublisherPtr to_engine_name(Services& services);

/// Returns a publisher that writes an OCI layout, an archive, a bundle or a squashfs, loads the
/// image into the docker engine, or passes it to a function.
PublisherPtr to_output(Services& services, packaging::Output output);

}  // namespace autopack::publish
