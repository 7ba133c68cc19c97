#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::job {

/// The elements of a list flag (`--args=a,b`): split at `,`, or at D when `value` starts with
/// `^D^` (D may be several characters); one delimiter at the end is ignored. Equal elements are
/// kept; an empty value has none. `^^` is added to `problems`, named after `flag` (`--args`).
std::vector<std::string> split_list(std::string_view value,
                                    const std::string& flag,
                                    Problems& problems);

/// The value of a list flag that split_list takes apart into `elements` again: joined by `,`, or by
/// a delimiter that none of them holds, announced as `^D^`.
std::string join_list(const std::vector<std::string>& elements);

/// The pairs of a `KEY=VALUE,...` flag in the order typed. Parts without `=`, empty and repeated
/// keys are added to `problems`, named after `flag` (`--labels`).
std::vector<std::pair<std::string, std::string>> split_pairs(std::string_view value,
                                                             const std::string& flag,
                                                             Problems& problems);

/// The same of parts that are taken apart already.
std::vector<std::pair<std::string, std::string>> pairs_of(const std::vector<std::string>& parts,
                                                          const std::string& flag,
                                                          Problems& problems);

/// A duration as the API writes it (`7200s`, `1.5s`) from `7200s`, `2h`, `90m`, `7d`, `1h30m`;
/// none when `text` is no duration.
std::optional<std::string> api_duration(std::string_view text);

/// Whole seconds of a duration as the API writes it, rounded up.
std::int64_t duration_seconds(std::string_view api_text);

}  // namespace autopack::job
