#pragma once

#include "source/secrets.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// The file of a project that allows individual secrets, visible to reviewers.
inline constexpr std::string_view allowed_secrets_file{".autopack-allow-secrets"};

/// A line of that file: `FINGERPRINT KIND PATH`.
struct AllowedSecret {
  std::string fingerprint{};
  std::string kind{};
  std::string path{};  ///< as printable() writes it, so that any name fits on a line
  int line{0};         ///< 1-based
};

/// Parses the file's text; ignores empty lines and those that start with `#`. Throws Error(project)
/// with all invalid lines.
std::vector<AllowedSecret> read_allowed_secrets(std::string_view text);

/// Returns true if `allowed` matches `secret`: a changed value or a moved file is another secret.
bool allows(const AllowedSecret& allowed, const FoundSecret& secret);

/// Returns the line that allows `secret`.
std::string allowing_line(const FoundSecret& secret);

}  // namespace autopack::source
