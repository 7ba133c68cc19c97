#pragma once

#include "image/source.hpp"
#include "packaging/request.hpp"
#include "packaging/settings.hpp"
#include "services/services.hpp"
#include "verify/comparison.hpp"
#include "verify/recorded.hpp"

namespace autopack::verify {

/// What to compare an image with.
struct Wish {
  packaging::Request request{};  ///< the settings of the project's directory
  packaging::Settings typed{};   ///< those of them that apply whatever the image says
  bool has_source{false};        ///< the user chose the source; else the image says it
  bool has_engine{false};        ///< the same for `--engine`
  bool has_byte_code{false};     ///< the same for `--compile-bytecode`
  bool offline{false};           ///< only with what is on this machine
};

/// Makes the image again from what it says of itself and from the project, and compares the two.
/// Pushes nothing and changes nothing but the cache. Comparison::unknown says what could not be
/// compared. Throws what scanning a project throws, and Error(remote, environment) if the base or
/// the commit is gone.
Comparison verify(Services& services,
                  const image::Source& image,
                  const Recorded& recorded,
                  Wish wish);

}  // namespace autopack::verify
