#pragma once

#include "pipeline/assembly.hpp"
#include "pipeline/image_source.hpp"
#include "pipeline/package.hpp"
#include "pipeline/reuse.hpp"
#include "registry/client.hpp"

#include <string>

namespace autopack::pipeline {

/// Sends the image of `assembly`, which stands on `parent`, to `target`, the repository of `name`:
/// what it is not known to have, then the manifest under the tag of `image`, then under the user's
/// own. Layers of `last` are not asked for; should the registry not know one after all, all of it
/// is sent. Fills in digests, layers and bytes of `image`.
void send(Services& services,
          registry::Repository& target,
          const ImageName& name,
          const Assembly& assembly,
          const Parent& parent,
          std::optional<LastPushed> last,
          Image& image);

}  // namespace autopack::pipeline
