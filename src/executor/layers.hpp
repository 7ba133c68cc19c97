#pragma once

#include "image/layer_tree.hpp"
#include "image/source.hpp"
#include "services/services.hpp"

namespace autopack::executor {

/// Returns the files of `source`'s layers with their notes of note_for_python. Reports progress,
/// because a large base takes a while.
image::LayerTree read_layers(Services& services, image::Source source);

}  // namespace autopack::executor
