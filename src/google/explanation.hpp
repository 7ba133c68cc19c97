#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace autopack::google {

/// A text in the failures of services and jobs, its meaning and the fix.
struct KnownFailure {
  std::string_view fragment{};
  std::string_view and_also{};  ///< must be in the text too; may be empty
  std::string_view why{};
  std::string_view command{};  ///< PROJECT, REGION, IMAGE, ... are placeholders for values of the
                               ///< failure
};

/// Returns the known failures. The first entry whose fragments are in a text applies.
std::span<const KnownFailure> known_failures();

/// The place of a failure, as far as it is known.
struct FieldPlace {
  std::optional<std::string> project{};
  std::optional<std::string> region{};
};

struct FailureExplanation {
  std::string why{};
  std::string command{};
};

/// Returns the meaning of `text` and the fix, or nothing if it is not a known failure. Takes names
/// of images, repositories and accounts from the text.
std::optional<FailureExplanation> explain(std::string_view text, const FieldPlace& place = {});

}  // namespace autopack::google
