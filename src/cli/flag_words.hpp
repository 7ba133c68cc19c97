#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Parsers of flag values. Each throws Error(usage) with the source of the value.
namespace autopack::cli {

/// Returns true for `true`, `yes`, `on`, `1`; false for their opposites; nothing for other text.
std::optional<bool> truth_of(const std::string& value);
/// The same; throws for other text.
bool to_bool(const std::string& value, const std::string& origin);
std::int64_t to_number(const std::string& value, const std::string& origin);

/// Returns `auto`, `docker` for the label `auto|docker|...`; empty if the label is a name.
std::vector<std::string> words_of(const std::string& label);
/// Throws unless `value` is one of `words`.
void check_word(const std::string& value,
                const std::vector<std::string>& words,
                const std::string& origin);

/// Returns "`VALUE` of `FLAG` WHAT", an error about a flag.
Problem value_problem(const char* flag,
                      const std::string& value,
                      const char* what,
                      const char* hint);

/// Returns autopack's flag for another tool's spelling; nothing if it is not one.
std::optional<std::string> known_elsewhere(const std::string& name);

/// Returns what to use instead of the flag `name` of `docker run`, or nothing if `run` has the
/// flag, or docker has none with that name.
std::optional<std::string> instead_of_dockers(const std::string& name);

}  // namespace autopack::cli
