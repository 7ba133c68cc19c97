#include "http/echo.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <algorithm>
#include <array>

namespace autopack::http {

namespace {

/// Anything shorter is a word that messages may hold.
constexpr std::size_t shortest_secret = 6;

bool logs_in(const Header& header) {
  constexpr std::array words{"auth", "token", "key", "secret", "cookie"};
  const std::string name = to_lower(header.name);
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return name.find(word) != std::string::npos; });
}

/// What stands behind the scheme: a token, base64, or the whole value.
std::vector<std::string> credentials_of(const Request& request) {
  std::vector<std::string> credentials;
  for (const auto& header : request.headers) {
    if (logs_in(header)) {
      credentials.push_back(header.value.substr(header.value.find(' ') + 1));
    }
  }
  return credentials;
}

/// The passwords in user and password of RFC 7617, or in the JSON object that a Docker Engine
/// takes: either way they stand between colons and quotes.
std::vector<std::string> passwords_of(const std::vector<std::string>& credentials) {
  std::vector<std::string> passwords;
  for (const auto& credential : credentials) {
    const auto decoded = base64_decode(credential);
    // many a token is base64 of bytes that nobody prints
    if (decoded && printable(*decoded) == *decoded) {
      passwords.push_back(*decoded);
      passwords.push_back(decoded->substr(decoded->find(':') + 1));
      const auto parts = split(*decoded, '"');
      passwords.insert(passwords.end(), parts.begin(), parts.end());
    }
  }
  return passwords;
}

/// The ways in which they may be written; the long ones first, for a part must not spoil the whole.
std::vector<std::string> forms_of(const std::vector<std::string>& secrets) {
  std::vector<std::string> forms;
  for (const auto& secret : secrets) {
    if (secret.size() >= shortest_secret) {
      const std::string quoted = write_json(nlohmann::json(secret));
      forms.insert(forms.end(),
                   {secret, quoted.substr(1, quoted.size() - 2), percent_encode(secret)});
    }
  }
  std::sort(forms.begin(), forms.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  return forms;
}

std::string hidden(std::string text, const std::vector<std::string>& forms) {
  for (const auto& form : forms) {
    text = replace_all(std::move(text), form, "***");
  }
  return text;
}

}  // namespace

void hide_logins(const Request& request, Response& response) {
  auto secrets = credentials_of(request);
  const auto tokens = forms_of(secrets);
  for (auto& header : response.headers) {
    // No passwords here: one that is a common word would spoil a challenge. A redirect must lead
    // where it leads, and only its host and path are ever shown.
    if (to_lower(header.name) != "location") {
      header.value = hidden(std::move(header.value), tokens);
    }
  }
  const auto passwords = passwords_of(secrets);
  secrets.insert(secrets.end(), passwords.begin(), passwords.end());
  response.body = hidden(std::move(response.body), forms_of(secrets));
}

}  // namespace autopack::http
