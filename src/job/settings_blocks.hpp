#pragma once

#include "project/tool_settings.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

// Two kinds of objects in a settings file contain settings themselves: `targets`, which maps names
// to settings for `--to`, and the block of a submitter, whose keys are flags.

namespace autopack::job {

/// The key of the settings file that maps names to settings.
inline constexpr std::string_view targets_key{"targets"};

/// A key of a block, and its flag.
struct BlockKey {
  std::string_view block{};  ///< `slurm`
  std::string_view key{};    ///< `account`
  std::string_view flag{};   ///< without dashes: `slurm-account`
  bool is_document{false};   ///< the value is an object, which the flag gets as text
};

/// Returns the keys of all blocks.
std::span<const BlockKey> block_keys();

/// Returns true for `kubernetes` and `slurm`.
bool is_block(std::string_view key);

/// Returns the row of a key. Throws Error(usage) with file and line if the block has no such key.
const BlockKey& find_block_key(std::string_view block,
                               std::string_view key,
                               const std::string& file,
                               int line);

/// Replaces blocks and targets, whose values are objects, by their settings. For files other than
/// YAML, whose reader does the same. Throws Error(usage) with file and line if one is malformed.
std::vector<project::ToolSetting> expand_blocks(std::vector<project::ToolSetting> settings);

/// Throws Error(usage) unless `value`, with the key `key` of a block or target, may be there.
void refuse_nested(std::string_view key,
                   const std::string& target,
                   const std::string& file,
                   int line);

}  // namespace autopack::job
