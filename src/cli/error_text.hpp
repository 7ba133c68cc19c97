#pragma once

#include "base/error.hpp"
#include "cli/hint_text.hpp"

#include <nlohmann/json_fwd.hpp>

#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::cli {

/// Words in colour, or plain if colour is off.
class Paint {
public:
  explicit Paint(bool color) : color_{color} {}

  std::string red(std::string_view text) const { return wrap("1;31", text); }

  /// Returns the text in a different colour for each of the first few numbers.
  std::string one_of_many(std::size_t number, std::string_view text) const;

  std::string yellow(std::string_view text) const { return wrap("1;33", text); }

  std::string green(std::string_view text) const { return wrap("1;32", text); }

  std::string cyan(std::string_view text) const { return wrap("1;36", text); }

  std::string bold(std::string_view text) const { return wrap("1", text); }

  std::string dim(std::string_view text) const { return wrap("2", text); }

private:
  std::string wrap(std::string_view code, std::string_view text) const;

  bool color_;
};

/// Converts an exception: an unexpected system error is an error of this machine; anything else is
/// a bug.
Error as_error(const std::exception& error);

/// Returns the text for standard error: message, causes from outer to inner, then hints. Several
/// findings follow each other. Omits causes that begin with `reported`, because they are on the
/// screen already. Commands in hints can be pasted.
std::string error_text(const Error& error,
                       const Paint& paint,
                       Charset charset = Charset::utf8,
                       std::optional<std::string_view> reported = {});

/// The same for a warning.
std::string warning_text(const Problem& problem,
                         const Paint& paint,
                         Charset charset = Charset::utf8);

/// Returns kind, message, causes and hints, for `error` in `--format=json`.
nlohmann::json error_object(const Error& error);

/// Returns the object of `--format=json`, with a line feed.
std::string error_json(const Error& error);

}  // namespace autopack::cli
