#include "source/secret_match.hpp"

#include <algorithm>

namespace autopack::source {

namespace {

/// Returns the base64 of a PEM block from `at` on, with line feeds or with the `\n` of a quoted
/// text. Empty if there is anything else.
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

}  // namespace

std::optional<SecretMatch> pem_key(const SecretRule& rule, std::string_view text, std::size_t at) {
  constexpr std::string_view dashes{"-----"};
  constexpr std::size_t longest_name = 24;  // `ENCRYPTED `, `OPENSSH `, `PGP `
  // The smallest one, Ed25519's, has 64 characters of base64.
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
  const auto count = std::ranges::count_if(body, is_base64);
  const auto before = text.substr(from + begin > 32 ? from + begin - 32 : 0, 32);
  const bool in_account = before.find("private_key") != std::string_view::npos;
  if (count < least || is_placeholder(body)) {
    return std::nullopt;
  }
  const bool account = around(text, at).find("service_account") != std::string_view::npos;
  const std::size_t start = from + begin;
  return SecretMatch{account && in_account ? "service-account-key" : rule.kind,
                     text.substr(start, end + dashes.size() + body.size() - start)};
}

}  // namespace autopack::source
