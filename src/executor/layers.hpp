#pragma once

#include "image/layer_tree.hpp"
#include "image/source.hpp"
#include "services/services.hpp"

namespace autopack::executor {

/// Returns the files of `source`'s layers with the excerpts of excerpt_for_python and
/// excerpts_of_gpu_code. Reports progress, because a large image takes a while.
image::LayerTree read_layers(Services& services, image::Source source);

}  // namespace autopack::executor
