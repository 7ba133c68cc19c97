#pragma once

#include "registry/client.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::registry {

/// What an answer other than the wanted one means for a person.
struct Refusal {
  std::string what{};  ///< "push layer `sha256:...`"
  std::string method{};
  std::string url{};
  std::string host{};  ///< as the user writes it
  std::string path{};
  const http::Response* response{nullptr};
  std::optional<Credential> login{};  ///< the one that was used
};

Refused refused(const Refusal& refusal);

/// The code of a refusal's first finding (`NAME_UNKNOWN`); none when it has none.
std::optional<std::string> refusal_code(const std::string& body);

/// True when one of a refusal's findings has `code`.
bool names_code(const std::string& body, std::string_view code);

/// The hint for a login that was refused or is missing.
std::string login_hint(const std::string& host, const std::optional<Credential>& login);

}  // namespace autopack::registry
