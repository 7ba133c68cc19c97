#pragma once

#include "image/layer_tree.hpp"
#include "image/source.hpp"
#include "services/services.hpp"

namespace autopack::executor {

/// What the layers of `source` leave, with what note_for_python notes of it. How much is read is
/// told as it goes: a large base takes a while.
image::LayerTree read_layers(Services& services, image::Source source);

}  // namespace autopack::executor
