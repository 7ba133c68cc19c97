#pragma once

#include <zlib.h>

namespace autopack {

/// The zlib functions in use; zlib is opened on first use.
struct Zlib {
  decltype(&inflateInit2_) init{};
  decltype(&::inflate) inflate{};
  decltype(&inflateEnd) end{};

  static constexpr int zlib_format{15};   ///< for init()
  static constexpr int raw_deflate{-15};  ///< for init()
};

/// Throws Error(environment) if zlib is not installed.
const Zlib& zlib();

}  // namespace autopack
