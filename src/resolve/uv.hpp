#pragma once

#include "base/environment.hpp"
#include "base/report.hpp"
#include "index/index_client.hpp"
#include "index/wheel_cache.hpp"

#include <optional>
#include <string>

namespace autopack::resolve {

/// The program uv, which resolves requirements.
struct Uv {
  std::string path{};
  std::string version{};  ///< `0.13.9`
  std::string origin{};   ///< where it was found: `AUTOPACK_UV`, `PATH`, `the cache`
};

/// Returns the uv in AUTOPACK_UV, else the one in PATH if autopack was tested with its version,
/// else the one downloaded earlier; nothing if there is none. Throws Error(usage) if AUTOPACK_UV is
/// not a uv.
std::optional<Uv> find_uv(const Environment& environment, const Cancellation* cancellation);

/// The same, but downloads a missing uv from `index`: the wheel of one fixed version, compared with
/// its known hash. Throws Error(environment) with the ways out if that fails.
Uv get_uv(const Environment& environment,
          const Cancellation* cancellation,
          index::IndexClient& index,
          index::WheelCache& wheels);

/// Returns the directories of `path`, a PATH, that do not depend on where autopack is started: a
/// cloned project may hold a program called uv or git.
std::string without_relative(const std::string& path);

}  // namespace autopack::resolve
