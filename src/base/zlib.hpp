#pragma once

#include <zlib.h>

namespace autopack {

/// What is used of zlib, which is opened at the first use.
struct Zlib {
  decltype(&inflateInit2_) init{};
  decltype(&::inflate) inflate{};
  decltype(&inflateEnd) end{};

  static constexpr int zlib_format{15};   ///< for init()
  static constexpr int raw_deflate{-15};  ///< likewise
};

/// Throws Error(environment) when it is not installed.
const Zlib& zlib();

}  // namespace autopack
