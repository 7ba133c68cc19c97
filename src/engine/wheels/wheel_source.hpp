#pragma once

#include "lock/locked_set.hpp"
#include "packaging/builder.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace autopack::engine {

/// What a wheel is built from. One of its three places is there.
struct WheelSource {
  std::string title{};     ///< for people: `counter` 0.5, or `vendor/lib`
  std::string kind{};      ///< for people: `a source distribution`
  std::string place{};     ///< for people, where it is asked for: `requirements.txt:3`
  std::string identity{};  ///< tells what it holds from anything else
  std::string name{};      ///< what pip is given: a file's name, or the path of a directory

  std::function<std::filesystem::path()> archive{};  ///< brings a file
  std::optional<std::string> directory{};            ///< of the requirements that a plan reads
  std::optional<lock::LockedSource> repository{};
};

/// Builds a source into a wheel and writes that to the file; its name. Throws what the build
/// throws.
using BuildWheel =
    std::function<std::string(const WheelSource& source, const std::filesystem::path& wheel)>;

/// How wheels are come by.
struct WheelPolicy {
  packaging::Freshness freshness{
      packaging::Freshness::cached};  ///< of choices and of what is built
  BuildWheel build{};                 ///< of what has no wheel; empty: that takes an engine
};

}  // namespace autopack::engine
