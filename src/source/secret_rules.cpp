#include "source/secret_rules.hpp"

#include "base/text.hpp"
#include "source/secret_match.hpp"

#include <algorithm>
#include <string>

namespace autopack::source {

namespace {

using Match = std::optional<SecretMatch>;

constexpr bool is_word_or_dot(char c) {
  return is_word(c) || c == '.';
}

constexpr bool is_word_dot_or_slash(char c) {
  return is_word_or_dot(c) || c == '/';
}

constexpr bool is_word_or_base64(char c) {
  return is_word_or_dot(c) || is_base64(c);
}

Match token_with_digit(const SecretRule& rule, std::string_view text, std::size_t at) {
  const auto match = token(rule, text, at);
  const bool has_digit = match && std::ranges::any_of(match->value, is_digit);
  return has_digit ? match : std::nullopt;
}

/// OpenAI's older keys have the anchor in their middle.
Match key_around(const SecretRule& rule, std::string_view text, std::size_t at) {
  constexpr std::string_view begin{"sk-"};
  constexpr std::size_t before = 23;
  return at >= before && text.substr(at - before, begin.size()) == begin
             ? token_at(rule, text, at - before, begin.size())
             : std::nullopt;
}

Match refresh_token(const SecretRule& rule, std::string_view text, std::size_t at) {
  auto found = token_at(rule, text, at, rule.anchor.size() + 1);
  if (!found) {
    return std::nullopt;
  }
  // Pictures in notebooks are base64, which sometimes contains `/1//0`.
  const auto goes_on = [&](std::size_t place) {
    return place < text.size() && (text[place] == '+' || text[place] == '/');
  };
  const bool in_base64 = (at > 0 && goes_on(at - 1)) || goes_on(at + found->value.size());
  return in_base64 ? std::nullopt : found;
}

Match named_token(const SecretRule& rule, std::string_view text, std::size_t at) {
  const std::size_t value = value_after(text, at + rule.anchor.size());
  return value == std::string_view::npos ? std::nullopt : token_at(rule, text, value, 0);
}

Match named_value(const SecretRule& rule, std::string_view text, std::size_t at) {
  const auto value = value_of(rule, text, at);
  return value.size() >= rule.least && !is_placeholder(value) ? Match{{rule.kind, value}}
                                                              : std::nullopt;
}

/// gcloud's credentials of a user: usable only with the client's secret.
Match user_credentials(const SecretRule& rule, std::string_view text, std::size_t at) {
  const bool has_client = around(text, at).find("\"client_secret\"") != std::string_view::npos;
  return has_client ? named_value(rule, text, at) : std::nullopt;
}

/// Matches `"auth": "dXNlcjpwYXNz"` of a docker configuration.
Match docker_login(const SecretRule& rule, std::string_view text, std::size_t at) {
  const auto coded = value_of(rule, text, at);
  const auto login = coded.empty() ? std::nullopt : base64_decode(coded);
  if (!login || login->find(':') == std::string::npos || login->ends_with(':') ||
      login->starts_with(':') || printable(*login) != *login || is_placeholder(*login)) {
    return std::nullopt;
  }
  return SecretMatch{rule.kind, coded};
}

Match putty_key(const SecretRule& rule, std::string_view text, std::size_t at) {
  const std::size_t lines = text.substr(0, at + secret_window).find("\nPrivate-Lines: ", at);
  return lines == std::string_view::npos
             ? std::nullopt
             : Match{{rule.kind, text.substr(at, std::min(text.size(), lines) - at)}};
}

}  // namespace

const std::vector<SecretRule>& secret_rules() {
  static const std::vector<SecretRule> rules{
      // Kind, anchor, the function that matches, the alphabet after the anchor, minimum and
      // maximum.
      {"google-api-key", "AIza", token, is_word, 35, 35},
      {"google-client-secret", "GOCSPX-", token, is_word, 24, 40},
      {"google-token", "ya29.", token, is_word_or_dot, 30, 2048},
      {"google-token", "1//0", refresh_token, is_word, 40, 250},
      {"google-user-credentials", "\"refresh_token\"", user_credentials, is_word_dot_or_slash, 20},
      {"aws-access-key", "AKIA", token, is_upper_or_digit, 16, 16},
      {"aws-access-key", "ASIA", token, is_upper_or_digit, 16, 16},
      {"aws-secret-key", "aws_secret_access_key", named_token, is_base64, 40, 40},
      {"aws-secret-key", "AWS_SECRET_ACCESS_KEY", named_token, is_base64, 40, 40},
      {"aws-secret-key", "SecretAccessKey", named_token, is_base64, 40, 40},
      {"azure-key", "AccountKey=", token, is_base64, 86, 88},
      {"github-token", "ghp_", token, is_word, 36, 60},
      {"github-token", "gho_", token, is_word, 36, 60},
      {"github-token", "ghu_", token, is_word, 36, 60},
      {"github-token", "ghs_", token, is_word, 36, 60},
      {"github-token", "ghr_", token, is_word, 36, 90},
      {"github-token", "github_pat_", token, is_word, 60, 100},
      {"gitlab-token", "glpat-", token, is_word, 20, 64},
      {"pypi-token", "pypi-AgE", token, is_word, 40, 400},
      {"npm-token", "npm_", token, is_alphanumeric, 36, 36},
      {"docker-token", "dckr_pat_", token, is_word, 20, 64},
      {"docker-login", "\"auth\"", docker_login, is_base64},
      {"docker-login", "\"identitytoken\"", named_value, is_word_or_base64, 16},
      {"kube-credentials", "client-key-data", named_value, is_base64, 40},
      {"slack-token", "xoxb-", token_with_digit, is_word, 24, 120},
      {"slack-token", "xoxp-", token_with_digit, is_word, 24, 120},
      {"slack-token", "xoxa-", token_with_digit, is_word, 24, 120},
      {"slack-token", "xoxr-", token_with_digit, is_word, 24, 120},
      {"slack-token", "xoxs-", token_with_digit, is_word, 24, 120},
      {"hugging-face-token", "hf_", token, is_alphanumeric, 34, 40},
      {"model-api-key", "sk-ant-", token, is_word, 24, 250},
      {"model-api-key", "sk-proj-", token, is_word, 24, 250},
      {"model-api-key", "T3BlbkFJ", key_around, is_alphanumeric, 48, 48},
      {"stripe-key", "sk_live_", token, is_alphanumeric, 20, 120},
      {"stripe-key", "rk_live_", token, is_alphanumeric, 20, 120},
      {"index-login", "http://", login_in_url},
      {"index-login", "https://", login_in_url},
      {"git-login", "ssh://", login_in_url},
      {"private-key", "PRIVATE KEY", pem_key},
      {"private-key", "PuTTY-User-Key-File", putty_key},
  };
  return rules;
}

}  // namespace autopack::source
