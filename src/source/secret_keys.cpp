#include "base/text.hpp"
#include "source/secret_match.hpp"

#include <algorithm>
#include <string>

namespace autopack::source {

namespace {

using Match = std::optional<SecretMatch>;

/// `"auth": "dXNlcjpwYXNz"` of a docker configuration.
Match docker_login(std::string_view text, std::size_t at) {
  const std::size_t value = value_after(text, at + 5);
  const auto coded =
      value == std::string_view::npos ? std::string_view{} : run_of(text, value, is_base64);
  const auto login = coded.empty() ? std::nullopt : base64_decode(coded);
  if (!login || login->find(':') == std::string::npos || login->ends_with(':') ||
      login->starts_with(':') || printable(*login) != *login || is_placeholder(*login)) {
    return std::nullopt;
  }
  return SecretMatch{"docker-login", coded};
}

Match docker_identity(std::string_view text, std::size_t at) {
  const std::size_t value = value_after(text, at + 14);
  const auto dotted = [](char c) { return is_base64(c) || is_word(c) || c == '.'; };
  const auto identity =
      value == std::string_view::npos ? std::string_view{} : run_of(text, value, dotted);
  return identity.size() >= 16 && !is_placeholder(identity) ? Match{{"docker-login", identity}}
                                                            : std::nullopt;
}

/// What gcloud writes for a user: useful only beside its client's secret.
Match user_credentials(std::string_view text, std::size_t at) {
  const std::size_t value = value_after(text, at + 14);
  const auto coded = [](char c) { return is_word(c) || c == '/' || c == '.'; };
  const auto refresh =
      value == std::string_view::npos ? std::string_view{} : run_of(text, value, coded);
  return refresh.size() >= 20 && !is_placeholder(refresh) &&
                 around(text, at).find("\"client_secret\"") != std::string_view::npos
             ? Match{{"google-user-credentials", refresh}}
             : std::nullopt;
}

Match kube_key(std::string_view text, std::size_t at) {
  const std::size_t value = value_after(text, at + 15);
  const auto key =
      value == std::string_view::npos ? std::string_view{} : run_of(text, value, is_base64);
  return key.size() >= 40 && !is_placeholder(key) ? Match{{"kube-credentials", key}} : std::nullopt;
}

/// The base64 of a PEM block from `at` on, whether its lines end in line feeds or in the `\n` of a
/// quoted text. Empty when anything else stands there.
std::string_view pem_body(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  std::size_t end = at;
  std::size_t count = 0;
  while (at < text.size() && at - begin < secret_window / 2) {
    const auto line = text.substr(at, text.find('\n', at) - at);
    if (count == 0 && line.find(": ") != std::string_view::npos && is_upper(line[0])) {
      at += line.size();  // `Proc-Type: 4,ENCRYPTED`, `Comment: ...`
    } else if (is_base64(text[at])) {
      const auto part = run_of(text, at, is_base64);
      count += part.size();
      at += part.size();
      end = at;
      // Words of a sentence are not lines of a key.
      if (at < text.size() && text[at] == ' ') {
        break;
      }
    } else if (text[at] == '\\' && at + 1 < text.size() &&
               (text[at + 1] == 'n' || text[at + 1] == 'r')) {
      at += 2;
    } else if (std::string_view{" \t\r\n\"'+,\\"}.find(text[at]) != std::string_view::npos) {
      ++at;
    } else {
      break;
    }
  }
  return text.substr(begin, end - begin);
}

Match private_key(std::string_view text, std::size_t at) {
  constexpr std::string_view dashes{"-----"};
  constexpr std::size_t longest_name = 24;  // `ENCRYPTED `, `OPENSSH `, `PGP `
  // The smallest there is, Ed25519's, has 64 characters of base64.
  constexpr std::ptrdiff_t least = 60;
  const std::size_t from = at > longest_name ? at - longest_name : 0;
  const std::size_t begin = text.substr(from, at - from).rfind("-----BEGIN ");
  std::size_t end = at + 11;
  if (text.substr(end, 6) == " BLOCK") {
    end += 6;
  }
  if (begin == std::string_view::npos || text.substr(end, dashes.size()) != dashes) {
    return std::nullopt;
  }
  const auto body = pem_body(text, end + dashes.size());
  const auto count = std::count_if(body.begin(), body.end(), is_base64);
  const auto before = text.substr(from + begin > 32 ? from + begin - 32 : 0, 32);
  const bool in_account = before.find("private_key") != std::string_view::npos;
  if (count < least || is_placeholder(body)) {
    return std::nullopt;
  }
  const bool account = around(text, at).find("service_account") != std::string_view::npos;
  const std::size_t start = from + begin;
  return SecretMatch{account && in_account ? "service-account-key" : "private-key",
                     text.substr(start, end + dashes.size() + body.size() - start)};
}

Match putty_key(std::string_view text, std::size_t at) {
  const std::size_t lines = text.substr(0, at + secret_window).find("\nPrivate-Lines: ", at);
  return lines == std::string_view::npos
             ? std::nullopt
             : Match{{"private-key", text.substr(at, std::min(text.size(), lines) - at)}};
}

}  // namespace

std::vector<SecretRule> key_rules() {
  return {
      {"PRIVATE KEY", private_key},
      {"PuTTY-User-Key-File", putty_key},
      {"\"refresh_token\"", user_credentials},
      {"\"auth\"", docker_login},
      {"\"identitytoken\"", docker_identity},
      {"client-key-data", kube_key},
  };
}

}  // namespace autopack::source
