#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::job {

/// Returns the elements of a list flag (`--args=a,b`): splits at `,`, or at D if `value` starts
/// with `^D^` (D may be several characters). Ignores one trailing delimiter and keeps duplicates;
/// an empty value has no elements. Reports `^^` in `problems`, with the name `flag` (`--args`).
std::vector<std::string> split_list(std::string_view value,
                                    const std::string& flag,
                                    Problems& problems);

/// Returns the value that split_list splits into `elements`: joined with `,`, or with a delimiter
/// that no element contains, announced as `^D^`.
std::string join_list(const std::vector<std::string>& elements);

/// Returns the pairs of a `KEY=VALUE,...` flag in the typed order. Reports parts without `=`, and
/// empty and repeated keys, in `problems`, with the name `flag` (`--labels`).
std::vector<std::pair<std::string, std::string>> split_pairs(std::string_view value,
                                                             const std::string& flag,
                                                             Problems& problems);

/// The same for parts that are already split.
std::vector<std::pair<std::string, std::string>> pairs_of(const std::vector<std::string>& parts,
                                                          const std::string& flag,
                                                          Problems& problems);

/// Returns a duration as the API writes it (`7200s`, `1.5s`) for `7200s`, `2h`, `90m`, `7d`,
/// `1h30m`; nothing if `text` is not a duration.
std::optional<std::string> api_duration(std::string_view text);

/// Returns the seconds of a duration in the API's form, rounded up.
std::int64_t duration_seconds(std::string_view api_text);

}  // namespace autopack::job
