#include "source/secret_match.hpp"

#include <algorithm>

namespace autopack::source {

namespace {

using Match = std::optional<SecretMatch>;

template <std::size_t prefix, std::size_t least, std::size_t most>
Match github(std::string_view text, std::size_t at) {
  return token(text, at, "github-token", prefix, is_word, least, most);
}

Match gitlab(std::string_view text, std::size_t at) {
  return token(text, at, "gitlab-token", 6, is_word, 20, 64);
}

Match pypi(std::string_view text, std::size_t at) {
  return token(text, at, "pypi-token", 8, is_word, 40, 400);
}

Match npm(std::string_view text, std::size_t at) {
  return token(text, at, "npm-token", 4, is_alphanumeric, 36, 36);
}

Match docker_token(std::string_view text, std::size_t at) {
  return token(text, at, "docker-token", 9, is_word, 20, 64);
}

Match slack(std::string_view text, std::size_t at) {
  const auto match = token(text, at, "slack-token", 5, is_word, 24, 120);
  const bool has_number = match && std::any_of(match->value.begin(), match->value.end(), is_digit);
  return has_number ? match : std::nullopt;
}

Match hugging_face(std::string_view text, std::size_t at) {
  return token(text, at, "hugging-face-token", 3, is_alphanumeric, 34, 40);
}

template <std::size_t prefix>
Match model_token(std::string_view text, std::size_t at) {
  return token(text, at, "model-api-key", prefix, is_word, 24, 250);
}

/// The older keys of OpenAI hold these letters in their middle.
Match openai(std::string_view text, std::size_t at) {
  constexpr std::size_t before = 23;
  return at >= before && text.substr(at - before, 3) == "sk-"
             ? token(text, at - before, "model-api-key", 3, is_alphanumeric, 48, 48)
             : std::nullopt;
}

Match stripe(std::string_view text, std::size_t at) {
  return token(text, at, "stripe-key", 8, is_alphanumeric, 20, 120);
}

Match google_api_key(std::string_view text, std::size_t at) {
  return token(text, at, "google-api-key", 4, is_word, 35, 35);
}

Match google_client_secret(std::string_view text, std::size_t at) {
  return token(text, at, "google-client-secret", 7, is_word, 24, 40);
}

Match google_token(std::string_view text, std::size_t at) {
  const auto dotted = [](char c) { return is_word(c) || c == '.'; };
  return token(text, at, "google-token", 5, dotted, 30, 2048);
}

Match google_refresh_token(std::string_view text, std::size_t at) {
  auto found = token(text, at, "google-token", 5, is_word, 40, 250);
  if (!found) {
    return std::nullopt;
  }
  // Pictures in notebooks are base64, which holds `/1//0` now and then.
  const auto goes_on = [&](std::size_t place) {
    return place < text.size() && (text[place] == '+' || text[place] == '/');
  };
  const bool in_base64 = (at > 0 && goes_on(at - 1)) || goes_on(at + found->value.size());
  return in_base64 ? std::nullopt : found;
}

Match aws_key_id(std::string_view text, std::size_t at) {
  return token(text, at, "aws-access-key", 4, is_upper_or_digit, 16, 16);
}

template <std::size_t name>
Match aws_secret(std::string_view text, std::size_t at) {
  const std::size_t value = value_after(text, at + name);
  return value == std::string_view::npos
             ? std::nullopt
             : token(text, value, "aws-secret-key", 0, is_base64, 40, 40);
}

Match azure_key(std::string_view text, std::size_t at) {
  return token(text, at, "azure-key", 11, is_base64, 86, 88);
}

}  // namespace

std::vector<SecretRule> token_rules() {
  std::vector<SecretRule> rules{
      {"AIza", google_api_key},
      {"GOCSPX-", google_client_secret},
      {"ya29.", google_token},
      {"1//0", google_refresh_token},
      {"AKIA", aws_key_id},
      {"ASIA", aws_key_id},
      {"aws_secret_access_key", aws_secret<21>},
      {"AWS_SECRET_ACCESS_KEY", aws_secret<21>},
      {"SecretAccessKey", aws_secret<15>},
      {"AccountKey=", azure_key},
      {"ghp_", github<4, 36, 60>},
      {"gho_", github<4, 36, 60>},
      {"ghu_", github<4, 36, 60>},
      {"ghs_", github<4, 36, 60>},
      {"ghr_", github<4, 36, 90>},
      {"github_pat_", github<11, 60, 100>},
      {"glpat-", gitlab},
      {"pypi-AgE", pypi},
      {"npm_", npm},
      {"dckr_pat_", docker_token},
      {"xoxb-", slack},
      {"xoxp-", slack},
      {"xoxa-", slack},
      {"xoxr-", slack},
      {"xoxs-", slack},
      {"sk-ant-", model_token<7>},
      {"sk-proj-", model_token<8>},
      {"T3BlbkFJ", openai},
      {"sk_live_", stripe},
      {"rk_live_", stripe},
  };
  // An anchor of three characters would be too short.
  static constexpr std::string_view letters{
      "hf_ahf_bhf_chf_dhf_ehf_fhf_ghf_hhf_ihf_jhf_khf_lhf_mhf_nhf_ohf_phf_qhf_rhf_shf_thf_uhf_vhf_w"
      "hf_xhf_yhf_zhf_Ahf_Bhf_Chf_Dhf_Ehf_Fhf_Ghf_Hhf_Ihf_Jhf_Khf_Lhf_Mhf_Nhf_Ohf_Phf_Qhf_Rhf_Shf_T"
      "hf_Uhf_Vhf_Whf_Xhf_Yhf_Z"};
  for (std::size_t at = 0; at < letters.size(); at += 4) {
    rules.push_back({letters.substr(at, 4), hugging_face});
  }
  return rules;
}

}  // namespace autopack::source
