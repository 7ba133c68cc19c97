#pragma once

#include "source/secrets.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// The file of a project that allows secrets one by one, for a reviewer to see.
inline constexpr std::string_view allowed_secrets_file{".autopack-allow-secrets"};

/// One line of it: `FINGERPRINT KIND PATH`.
struct AllowedSecret {
  std::string fingerprint{};
  std::string kind{};
  std::string path{};  ///< as printable() writes it, so that any name fits on a line
  int line{0};         ///< where it stands, 1-based
};

/// Reads the file's text; empty lines and those that start with `#` say nothing. Throws
/// Error(project) with all lines that are none.
std::vector<AllowedSecret> read_allowed_secrets(std::string_view text);

/// True when `allowed` is about `secret`: a changed value or a moved file is another secret.
bool allows(const AllowedSecret& allowed, const FoundSecret& secret);

/// The line that allows `secret`.
std::string allowing_line(const FoundSecret& secret);

}  // namespace autopack::source
