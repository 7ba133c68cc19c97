#pragma once

#include "registry/client.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::registry {

/// Describes an unexpected answer for a person.
struct Refusal {
  std::string what{};  ///< "push layer `sha256:...`"
  std::string method{};
  std::string url{};
  std::string host{};  ///< as the user wrote it
  std::string path{};
  const http::Response* response{nullptr};
  std::optional<Credential> login{};  ///< the login that was sent
};

Refused refused(const Refusal& refusal);

/// Returns the code of the first error in the answer (`NAME_UNKNOWN`), or nothing if it has none.
std::optional<std::string> refusal_code(const std::string& body);

/// True if one of the errors in the answer has `code`.
bool names_code(const std::string& body, std::string_view code);

/// Returns the hint for a refused or missing login.
std::string login_hint(const std::string& host, const std::optional<Credential>& login);

}  // namespace autopack::registry
