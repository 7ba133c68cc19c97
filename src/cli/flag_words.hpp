#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What the text of a flag means. Each throws Error(usage) that tells where the text came from.
namespace autopack::cli {

/// True for `true`, `yes`, `on`, `1`; false for their opposites; nothing for another text.
std::optional<bool> truth_of(const std::string& value);
/// The same; throws for another text.
bool to_bool(const std::string& value, const std::string& origin);
std::int64_t to_number(const std::string& value, const std::string& origin);

/// `auto`, `docker` of the label `auto|docker|...`; none when the label is a name.
std::vector<std::string> words_of(const std::string& label);
/// Throws unless `value` is one of `words`.
void check_word(const std::string& value,
                const std::vector<std::string>& words,
                const std::string& origin);

/// "`VALUE` of `FLAG` WHAT", an error of a flag.
Problem value_problem(const char* flag,
                      const std::string& value,
                      const char* what,
                      const char* hint);

/// The flag of autopack for a spelling of another tool; none when it is no such spelling.
std::optional<std::string> known_elsewhere(const std::string& name);

/// What `autopack run` does instead of the flag `name` of `docker run`. Returns nothing if `run`
/// has the flag, or docker has none of that name.
std::optional<std::string> instead_of_dockers(const std::string& name);

}  // namespace autopack::cli
