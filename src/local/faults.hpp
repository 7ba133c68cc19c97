#pragma once

#include "base/error.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

/// A fault that is made on purpose: `--fail=workerpool1-0@5s`.
struct Fault {
  enum class Kind { kill, cut };  ///< ended by a signal; off the network

  std::string replica{};
  std::chrono::milliseconds after{0};  ///< since the job began to run
  Kind kind{Kind::kill};
};

/// The fault that `text` asks for: `REPLICA@TIME` or `network:REPLICA@TIME`, with `s`, `m` or `ms`
/// after the number; none when it asks for none.
std::optional<Fault> read_fault(const std::string& text);

/// A number of bytes: `512m`, `2g`, `1.5GiB`; none when `text` is none, or not more than 0.
std::optional<std::uint64_t> read_size(const std::string& text);

}  // namespace autopack::local
