#include "http/echo.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <algorithm>
#include <array>

namespace autopack::http {

namespace {

/// Anything shorter may be an ordinary word of a message.
constexpr std::size_t shortest_secret = 6;

bool logs_in(const Header& header) {
  constexpr std::array words{"auth", "token", "key", "secret", "cookie"};
  const std::string name = to_lower(header.name);
  return std::ranges::any_of(
      words, [&](const char* word) { return name.find(word) != std::string::npos; });
}

/// Returns the text after the scheme: a token, base64, or the whole value.
std::vector<std::string> credentials_of(const Request& request) {
  std::vector<std::string> credentials;
  for (const auto& header : request.headers) {
    if (logs_in(header)) {
      credentials.push_back(header.value.substr(header.value.find(' ') + 1));
    }
  }
  return credentials;
}

/// Returns the passwords in RFC 7617 credentials, or in the JSON object for a Docker Engine. Both
/// are between colons and quotes.
std::vector<std::string> passwords_of(const std::vector<std::string>& credentials) {
  std::vector<std::string> passwords;
  for (const auto& credential : credentials) {
    const auto decoded = base64_decode(credential);
    // many tokens are base64 of binary data
    if (decoded && printable(*decoded) == *decoded) {
      passwords.push_back(*decoded);
      passwords.push_back(decoded->substr(decoded->find(':') + 1));
      const auto parts = split(*decoded, '"');
      passwords.insert(passwords.end(), parts.begin(), parts.end());
    }
  }
  return passwords;
}

/// Returns all spellings of the secrets, long ones first, so that replacing a part does not break
/// up the whole.
std::vector<std::string> forms_of(const std::vector<std::string>& secrets) {
  std::vector<std::string> forms;
  for (const auto& secret : secrets) {
    if (secret.size() >= shortest_secret) {
      const std::string quoted = write_json(nlohmann::json(secret));
      forms.insert(forms.end(),
                   {secret, quoted.substr(1, quoted.size() - 2), percent_encode(secret)});
    }
  }
  std::ranges::sort(forms,
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
    // Does not hide passwords here: one that is a common word would damage a challenge. A redirect
    // must stay intact, and only its host and path are ever shown.
    if (to_lower(header.name) != "location") {
      header.value = hidden(std::move(header.value), tokens);
    }
  }
  const auto passwords = passwords_of(secrets);
  secrets.insert(secrets.end(), passwords.begin(), passwords.end());
  response.body = hidden(std::move(response.body), forms_of(secrets));
}

}  // namespace autopack::http
