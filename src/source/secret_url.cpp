#include "base/contains.hpp"
#include "base/text.hpp"
#include "source/secret_match.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace autopack::source {

namespace {

/// `scheme://login@host/path` in a text.
struct UrlParts {
  std::size_t begin{0};  ///< of the scheme
  std::string_view scheme{};
  std::string_view login{};
  std::string_view host{};
  std::string_view path{};
};

constexpr bool is_of_scheme(char c) {
  return is_alphanumeric(c) || c == '+' || c == '-' || c == '.';
}

/// Matches `/t/TOKEN/channel`, the form of Anaconda's servers.
bool is_channel_with_token(std::string_view path) {
  constexpr std::string_view mark{"/t/"};
  constexpr std::size_t least{16};
  if (!path.starts_with(mark)) {
    return false;
  }
  const auto token = run_of(path, mark.size(), is_word);
  return token.size() >= least && std::ranges::count_if(token, is_digit) >= 4 &&
         !is_placeholder(token) && path.substr(mark.size() + token.size()).starts_with('/');
}

/// Returns the URL whose `://` ends at `end`; nothing if it has no login and no token.
std::optional<UrlParts> url_with_login(std::string_view text, std::size_t end) {
  constexpr std::string_view colon_slashes{"://"};
  UrlParts url{.begin = end - colon_slashes.size()};
  while (url.begin > 0 && is_of_scheme(text[url.begin - 1])) {
    --url.begin;
  }
  url.scheme = text.substr(url.begin, end - colon_slashes.size() - url.begin);
  const auto rest = text.substr(end, secret_window);
  const auto authority = rest.substr(0, rest.find_first_of("/?#\\\"'`<>,; \t\r\n"));
  const std::size_t sign = authority.rfind('@');
  url.login = sign == std::string_view::npos ? std::string_view{} : authority.substr(0, sign);
  url.host = authority.substr(sign == std::string_view::npos ? 0 : sign + 1);
  url.host = url.host.substr(0, url.host.find(':'));
  const auto behind = rest.substr(authority.size());
  url.path = behind.substr(0, behind.find_first_of("\"'`<> \t\r\n"));
  const bool is_open = url.login.empty() || url.host.empty();
  return is_open && !is_channel_with_token(url.path) ? std::nullopt : std::optional{url};
}

/// Returns true for passwords of documentation and tests.
bool is_sample_password(std::string_view user, std::string_view password) {
  static constexpr std::array words{"pass",
                                    "password",
                                    "passwd",
                                    "passphrase",
                                    "pwd",
                                    "pw",
                                    "secret",
                                    "token",
                                    "key",
                                    "apikey",
                                    "api_key",
                                    "api-key",
                                    "api_token",
                                    "api-token",
                                    "access_token",
                                    "access-token",
                                    "accesstoken",
                                    "auth",
                                    "auth_token",
                                    "auth-token",
                                    "pat",
                                    "mypass",
                                    "mypassword",
                                    "my-password",
                                    "my_password",
                                    "mytoken",
                                    "my-token",
                                    "my_token",
                                    "personal_access_token",
                                    "credentials",
                                    "foo",
                                    "bar",
                                    "baz",
                                    "abc",
                                    "test",
                                    "x-oauth-basic"};
  const bool is_encoded = password.size() > 2 && password[0] == '%' &&
                          std::isxdigit(static_cast<unsigned char>(password[1])) != 0 &&
                          std::isxdigit(static_cast<unsigned char>(password[2])) != 0;
  const std::string lower = to_lower(password);
  const bool is_name_of_variable =
      password.find('_') != std::string_view::npos &&
      std::ranges::all_of(password, [](char c) { return is_upper(c) || c == '_'; });
  return password == user || is_name_of_variable ||
         is_placeholder(is_encoded ? password.substr(3) : password) ||
         password.find("${") != std::string_view::npos ||
         password.find("{{") != std::string_view::npos || contains(words, lower);
}

/// Returns true for a user that can only be a token, because nobody has such a name.
bool is_token(std::string_view user) {
  constexpr std::size_t least = 16;
  while (!user.empty()) {
    const auto run = run_of(user, 0, is_alphanumeric);
    const auto digits = std::ranges::count_if(run, is_digit);
    if (run.size() >= least && digits >= 2 && static_cast<std::size_t>(digits) < run.size()) {
      return !is_placeholder(run) && run.find("123456789") == std::string_view::npos;
    }
    user.remove_prefix(std::min(run.size() + 1, user.size()));
  }
  return false;
}

bool holds_login(const UrlParts& url) {
  if (is_channel_with_token(url.path)) {
    return true;
  }
  static constexpr std::array samples{"example.com", "example.org", "example.net", "host",
                                      "hostname",    "server",      "domain"};
  if (contains(samples, to_lower(url.host)) ||
      url.host.find_first_of("{}$") != std::string_view::npos) {
    return false;
  }
  const std::size_t colon = url.login.find(':');
  const auto user = url.login.substr(0, colon);
  const auto password =
      colon == std::string_view::npos ? std::string_view{} : url.login.substr(colon + 1);
  return password.empty() || password == "x-oauth-basic" ? is_token(user)
                                                         : !is_sample_password(user, password);
}

bool has_any(std::string_view text, const std::vector<std::string_view>& words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// Returns true if the line, or the path of the URL, refers to packages.
bool names_packages(std::string_view text, const UrlParts& url) {
  const std::size_t before = url.begin > secret_window ? url.begin - secret_window : 0;
  auto line = text.substr(before, url.begin - before);
  line = line.substr(line.rfind('\n') + 1);  // the whole text if there is none
  const auto lower = to_lower(line);
  const auto start = trim(std::string_view{lower});
  return has_any(lower, {"index-url", "index_url", "find-links", "find_links", "extra-index",
                         "extra_index", "default-index", "pip install", "pip3 install", "git clone",
                         "--index"}) ||
         start == "-i" || start == "-f" || has_any(url.path, {"/simple", ".whl", ".git"});
}

}  // namespace

bool is_file_of_dependencies(std::string_view path) {
  static constexpr std::array names{"pyproject.toml", "setup.cfg",   "setup.py", "Pipfile",
                                    "Pipfile.lock",   "poetry.toml", "uv.toml",  "pdm.toml",
                                    ".pdm.toml",      "pixi.toml",   ".condarc", ".gitmodules",
                                    "conda-lock.yml", "tox.ini"};
  const std::size_t slash = path.rfind('/');
  const std::string name = to_lower(path.substr(slash == std::string_view::npos ? 0 : slash + 1));
  const std::string above = to_lower(path.substr(0, slash == std::string_view::npos ? 0 : slash));
  const bool is_list = name.ends_with(".txt") || name.ends_with(".in");
  const bool is_yaml = name.ends_with(".yml") || name.ends_with(".yaml");
  return (is_list &&
          (has_any(name, {"req", "constraint", "depend", "deps"}) || has_any(above, {"req"}))) ||
         (is_yaml && has_any(name, {"env", "conda"})) || name.ends_with(".lock") ||
         (name.starts_with("pylock.") && name.ends_with(".toml")) ||
         std::ranges::any_of(names, [&](const char* one) { return to_lower(one) == name; });
}

std::optional<SecretMatch> login_in_url(const SecretRule& rule,
                                        std::string_view text,
                                        std::size_t at) {
  const auto url = url_with_login(text, at + rule.anchor.size());
  if (!url || !holds_login(*url)) {
    return std::nullopt;
  }
  const bool is_git = url->scheme.starts_with("git+") || url->path.ends_with(".git");
  const auto password = url->login.substr(std::min(url->login.find(':') + 1, url->login.size()));
  return SecretMatch{
      .kind = is_git ? "git-login" : rule.kind,
      .value = around(text, at),
      .login = text.substr(url->begin,
                           url->login.size() + url->scheme.size() + 3 + 1 + url->host.size()),
      .is_anywhere = url->scheme.find('+') != std::string_view::npos || names_packages(text, *url),
      .is_random = is_channel_with_token(url->path) || is_token(password) || is_token(url->login)};
}

}  // namespace autopack::source
