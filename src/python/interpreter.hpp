#pragma once

#include "python/marker.hpp"
#include "python/version.hpp"

#include <string>

namespace autopack::python {

/// Absolute directories of an image that an installation writes to.
struct Scheme {
  std::string purelib{};
  std::string platlib{};
  std::string scripts{};
  std::string headers{};  ///< without the distribution's name
  std::string data{};
};

/// The C library that an interpreter is linked with.
struct Libc {
  enum class Kind { glibc, musl };

  Kind kind{Kind::glibc};
  int major{0};
  int minor{0};
};

/// A Python interpreter of an image, found without running it.
struct Interpreter {
  std::string executable{};  ///< absolute, as found on PATH; launchers contain it
  Version version{};
  std::string implementation{"cpython"};
  std::string abi_flags{};  ///< `t`, `d`, `m` or empty
  std::string machine{};    ///< `x86_64`, `aarch64`
  Libc libc{};
  Scheme scheme{};
};

/// Returns the environment for evaluating markers for `interpreter`. The kernel's release and
/// version are empty, because the job's kernel is unknown.
MarkerEnvironment marker_environment(const Interpreter& interpreter);

}  // namespace autopack::python
