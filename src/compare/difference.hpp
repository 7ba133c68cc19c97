#pragma once

#include "compare/contents.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::compare {

/// Something that two sides say differently; none: that side does not have it.
template <typename Value>
struct Change {
  std::string name{};
  std::optional<Value> before{};
  std::optional<Value> after{};
};

/// How `after` differs from `before`, each list sorted by name.
struct Difference {
  std::vector<Change<FileFacts>> files{};  ///< without directories
  std::vector<Change<std::string>> packages{};
  std::vector<Change<std::string>> configuration{};
  std::vector<std::string> requirements{};  ///< of two projects, in words
  std::size_t shared_layers{0};             ///< of two images
  std::uint64_t shared_size{0};

  bool empty() const {
    return files.empty() && packages.empty() && configuration.empty() && requirements.empty();
  }
};

/// Of two images all; where one side is a project, only what is below /usr/app, and of two projects
/// their files and settings. The requirements are left to the caller.
Difference difference(const Contents& before, const Contents& after);

/// For a person: at most `most` files of each kind of change, unless it is 0.
std::string to_text(const Difference& difference,
                    const Contents& before,
                    const Contents& after,
                    std::size_t most);

nlohmann::json to_json(const Difference& difference, const Contents& before, const Contents& after);

}  // namespace autopack::compare
