#pragma once

#include "compare/contents.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::compare {

/// A value that differs between two sides; absent if a side does not have it.
template <typename Value>
struct Change {
  std::string name{};
  std::optional<Value> before{};
  std::optional<Value> after{};
};

/// The changes from `before` to `after`, each list sorted by name.
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

/// Compares everything of two images; only files below /usr/app if one side is a project; files and
/// settings of two projects. Does not compare requirements.
Difference difference(const Contents& before, const Contents& after);

/// Returns text for people: at most `most` files of each kind of change; 0 = all.
std::string to_text(const Difference& difference,
                    const Contents& before,
                    const Contents& after,
                    std::size_t most);

nlohmann::json to_json(const Difference& difference, const Contents& before, const Contents& after);

}  // namespace autopack::compare
