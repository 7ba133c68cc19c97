#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace autopack::google {

/// A text that services and jobs are known to fail with, what it
/// means, and what mends it.
struct KnownFailure {
  std::string_view fragment{};
  std::string_view and_also{};  ///< must stand in the text too; may be empty
  std::string_view why{};
  std::string_view command{};  ///< PROJECT, REGION, IMAGE, ... stand for the failure's own
};

/// The known failures; the first whose fragments are in a text is its own.
std::span<const KnownFailure> known_failures();

/// Where a failure happened, as far as that is known.
struct FieldPlace {
  std::optional<std::string> project{};
  std::optional<std::string> region{};
};

/// A failure in words.
struct FailureExplanation {
  std::string why{};
  std::string command{};
};

/// What `text` means and what mends it; none when it is no known failure. Names of images,
/// repositories and accounts are taken from the text.
std::optional<FailureExplanation> explain(std::string_view text, const FieldPlace& place = {});

}  // namespace autopack::google
