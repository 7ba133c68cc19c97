#pragma once

#include "packaging/output.hpp"
#include "packaging/publisher.hpp"
#include "publish/target.hpp"
#include "services/services.hpp"

#include <memory>

namespace autopack::publish {

using PublisherPtr = std::unique_ptr<packaging::Publisher>;

/// Sends an image that is put together here to `target`: what the registry is not known to have,
/// then the manifest under the key's tag, then under the user's own. Of an image that is there
/// already the user's tag is moved.
PublisherPtr to_registry(Services& services, std::shared_ptr<Target> target);

/// Sends `made`, the image of the dependencies of `work`, which is put together here, to `target`,
/// under the tag of its key. What of it was sent is noted in `made`.
Digest push_dependencies(Services& services,
                         const std::shared_ptr<Target>& target,
                         const packaging::Packaging& work,
                         packaging::MadeImage& made);

/// Has the docker engine push an image that it holds, the user's own tag last.
PublisherPtr to_registry_by_engine(Services& services);

/// Gives an image that the docker engine holds the user's own tag there.
PublisherPtr to_engine_name(Services& services);

/// Writes an OCI layout or an archive, or loads the image into the docker engine.
PublisherPtr to_output(Services& services, packaging::Output output);

}  // namespace autopack::publish
