#pragma once

#include "base/error.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

/// An injected fault: `--fail=workerpool1-0@5s`.
struct Fault {
  enum class Kind { kill, cut };  ///< ended by a signal; disconnected from the network

  std::string replica{};
  std::chrono::milliseconds after{0};  ///< since the job started to run
  Kind kind{Kind::kill};
};

/// Parses `REPLICA@TIME` or `network:REPLICA@TIME`, with `s`, `m` or `ms` after the number. Returns
/// nothing if `text` is not a fault.
std::optional<Fault> read_fault(const std::string& text);

/// Parses a number of bytes: `512m`, `2g`, `1.5GiB`. Returns nothing if `text` is not a size above
/// 0.
std::optional<std::uint64_t> read_size(const std::string& text);

}  // namespace autopack::local
