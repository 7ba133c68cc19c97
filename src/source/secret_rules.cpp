#include "source/secret_rules.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace autopack::source {

namespace {

using Match = std::optional<SecretMatch>;

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

constexpr bool is_alphanumeric(char c) {
  return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z');
}

constexpr bool is_word(char c) {
  return is_alphanumeric(c) || c == '_' || c == '-';
}

constexpr bool is_base64(char c) {
  return is_alphanumeric(c) || c == '+' || c == '/' || c == '=';
}

constexpr bool is_upper_or_digit(char c) {
  return is_upper(c) || is_digit(c);
}

using Class = bool (*)(char);

/// The characters of a class that stand from `at` on, at most a window of them.
std::string_view run(std::string_view text, std::size_t at, Class in_class) {
  text = text.substr(std::min(at, text.size()), secret_window);
  const auto end = std::find_if_not(text.begin(), text.end(), in_class);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// A token: `prefix` characters of the anchor, then `least` to `most` of a class, and nothing of a
/// word on either side.
Match token(std::string_view text,
            std::size_t at,
            std::string_view kind,
            std::size_t prefix,
            Class in_class,
            std::size_t least,
            std::size_t most) {
  if (at > 0 && is_alphanumeric(text[at - 1])) {
    return std::nullopt;
  }
  const auto rest = run(text, at + prefix, in_class);
  if (rest.size() < least || rest.size() > most || is_placeholder(rest)) {
    return std::nullopt;
  }
  const std::size_t end = at + prefix + rest.size();
  if (end < text.size() && is_alphanumeric(text[end])) {
    return std::nullopt;
  }
  return SecretMatch{kind, text.substr(at, prefix + rest.size())};
}

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
  return token(text, at, "google-token", 5, is_word, 40, 250);
}

Match aws_key_id(std::string_view text, std::size_t at) {
  return token(text, at, "aws-access-key", 4, is_upper_or_digit, 16, 16);
}

/// Where the value of `name = "value"`, `"name": "value"` or `name: value` begins, seen from the
/// end of the name; npos when no value follows on the line.
std::size_t value_after(std::string_view text, std::size_t at) {
  const auto skip = [&](std::string_view characters) {
    at = std::min(text.find_first_not_of(characters, at), text.size());
  };
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
    ++at;
  }
  skip(" \t");
  if (at >= text.size() || (text[at] != ':' && text[at] != '=')) {
    return std::string_view::npos;
  }
  ++at;
  skip(" \t");
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
    ++at;
  }
  return at < text.size() ? at : std::string_view::npos;
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

/// `"auth": "dXNlcjpwYXNz"` of a docker configuration.
Match docker_login(std::string_view text, std::size_t at) {
  const std::size_t value = value_after(text, at + 5);
  const auto coded =
      value == std::string_view::npos ? std::string_view{} : run(text, value, is_base64);
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
      value == std::string_view::npos ? std::string_view{} : run(text, value, dotted);
  return identity.size() >= 16 && !is_placeholder(identity) ? Match{{"docker-login", identity}}
                                                            : std::nullopt;
}

/// What stands around `at`, as far as a rule may look.
std::string_view around(std::string_view text, std::size_t at) {
  const std::size_t begin = at > secret_window ? at - secret_window : 0;
  return text.substr(begin, at - begin + secret_window);
}

/// What gcloud writes for a user: useful only beside its client's secret.
Match user_credentials(std::string_view text, std::size_t at) {
  const std::size_t value = value_after(text, at + 14);
  const auto coded = [](char c) { return is_word(c) || c == '/' || c == '.'; };
  const auto refresh =
      value == std::string_view::npos ? std::string_view{} : run(text, value, coded);
  return refresh.size() >= 20 && !is_placeholder(refresh) &&
                 around(text, at).find("\"client_secret\"") != std::string_view::npos
             ? Match{{"google-user-credentials", refresh}}
             : std::nullopt;
}

Match kube_key(std::string_view text, std::size_t at) {
  const std::size_t value = value_after(text, at + 15);
  const auto key =
      value == std::string_view::npos ? std::string_view{} : run(text, value, is_base64);
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
      const auto part = run(text, at, is_base64);
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
  constexpr std::size_t least = 24;
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
  if (count < static_cast<std::ptrdiff_t>(in_account ? 4 : least) || is_placeholder(body)) {
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

std::vector<SecretRule> make_rules() {
  std::vector<SecretRule> rules{
      {"PRIVATE KEY", private_key},
      {"PuTTY-User-Key-File", putty_key},
      {"AIza", google_api_key},
      {"GOCSPX-", google_client_secret},
      {"ya29.", google_token},
      {"1//0", google_refresh_token},
      {"\"refresh_token\"", user_credentials},
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
      {"\"auth\"", docker_login},
      {"\"identitytoken\"", docker_identity},
      {"client-key-data", kube_key},
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

}  // namespace

const std::vector<SecretRule>& secret_rules() {
  static const std::vector<SecretRule> rules = make_rules();
  return rules;
}

bool is_placeholder(std::string_view value) {
  static constexpr std::array words{"example",  "placeholder", "changeme", "change-me", "change_me",
                                    "redacted", "xxxxxx",      "yourkey",  "your-",     "your_",
                                    "insert-",  "dummy",       "******"};
  static constexpr std::string_view references{"<$%{["};
  if (value.empty() || references.find(value.front()) != std::string_view::npos) {
    return true;
  }
  const std::string lower = to_lower(value);
  return lower.find_first_not_of("x0*.-_?") == std::string::npos ||
         std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return lower.find(word) != std::string::npos; });
}

}  // namespace autopack::source
