#include "source/secrets.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "source/secret_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace autopack::source {

namespace {

/// How much of a file that is recognised by its name is examined as a whole.
constexpr std::size_t largest_named{std::size_t{4} << 20U};
/// The same limit as git's for a zero byte.
constexpr std::size_t binary_prefix{8000};
/// In one file; a text with more of them is not a list of packages.
constexpr std::size_t most_logins{1000};

int lines_in(std::string_view text) {
  return static_cast<int>(std::ranges::count(text, '\n'));
}

/// Returns true for documentation, whose examples look like logins.
bool is_prose(std::string_view path) {
  return path.ends_with(".md") || path.ends_with(".rst") || path.ends_with(".html") ||
         path.ends_with(".adoc");
}

std::string fingerprint(std::string_view kind, std::string_view value) {
  Sha256 hash;
  hash.update(kind);
  hash.update(std::string_view{"\0", 1});
  hash.update(value);
  return hash.finish().hex().substr(0, 12);
}

}  // namespace

std::string secret_in_words(std::string_view kind) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 27> words{{
      {"aws-access-key", "an AWS access key"},
      {"aws-secret-key", "an AWS secret key"},
      {"azure-key", "an Azure account key"},
      {"docker-login", "a registry login"},
      {"docker-token", "a Docker Hub token"},
      {"environment-file", "variables of an environment file"},
      {"git-login", "a git login"},
      {"github-token", "a GitHub token"},
      {"gitlab-token", "a GitLab token"},
      {"google-api-key", "a Google API key"},
      {"google-client-secret", "a Google OAuth client secret"},
      {"google-token", "a Google OAuth token"},
      {"google-user-credentials", "Google user credentials"},
      {"hugging-face-token", "a Hugging Face token"},
      {"index-login", "a package index login"},
      {"key-store", "a PKCS #12 key store"},
      {"kaggle-key", "a Kaggle key"},
      {"kube-credentials", "Kubernetes credentials"},
      {"model-api-key", "an API key of a model service"},
      {"netrc-login", "a netrc login"},
      {"npm-token", "an npm token"},
      {"private-key", "a private key"},
      {"pypi-login", "a package index login"},
      {"pypi-token", "a PyPI token"},
      {"service-account-key", "a service account key"},
      {"slack-token", "a Slack token"},
      {"stripe-key", "a Stripe key"},
  }};
  const auto* const found =
      std::ranges::find_if(words, [&](const auto& entry) { return entry.first == kind; });
  return std::string{found == words.end() ? kind : found->second};
}

bool is_login_in_url(const FoundSecret& secret) {
  return (secret.kind == "index-login" || secret.kind == "git-login") &&
         !is_secret_file(secret.path);
}

SecretScan::SecretScan(std::string_view path, Detail detail)
    : path_{path}, detail_{detail}, named_{is_secret_file(path)} {}

void SecretScan::feed(std::string_view bytes) {
  if (is_done()) {
    return;
  }
  if (seen_ < binary_prefix) {
    binary_ =
        binary_ || bytes.substr(0, binary_prefix - seen_).find('\0') != std::string_view::npos;
    seen_ += bytes.size();
  }
  if (named_ && whole_.size() < largest_named) {
    whole_ += bytes.substr(0, largest_named - whole_.size());
  }
  std::string_view text = bytes;
  if (!carry_.empty()) {
    carry_ += bytes;
    text = carry_;
  }
  // A rule sees a complete window before and after its anchor, wherever the pieces end.
  const std::size_t end = text.size() > secret_window ? text.size() - secret_window : 0;
  if (end > looked_) {
    look(text, end);
    looked_ = end;
  }
  const std::size_t drop = looked_ > secret_window ? looked_ - secret_window : 0;
  if (detail_ == Detail::all) {
    lines_ += lines_in(text.substr(0, drop));
  }
  looked_ -= drop;
  carry_ = std::string{text.substr(drop)};
}

std::vector<FoundSecret> SecretScan::finish() {
  if (!is_done()) {
    look(carry_, carry_.size());
  }
  if (named_ && !is_done()) {
    lines_ = 1;
    for (const NamedSecret& secret : secrets_in_file(path_, whole_)) {
      // Over the whole file: a password alone could be guessed from its hash.
      note(whole_, secret.at, secret.kind, whole_);
    }
  }
  add_logins();
  if (binary_) {
    for (FoundSecret& secret : found_) {  // some came before the first zero byte
      secret.line = 0;
    }
  }
  std::ranges::stable_sort(found_, [](const auto& a, const auto& b) { return a.line < b.line; });
  found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  return std::move(found_);
}

void SecretScan::look(std::string_view text, std::size_t end) {
  const SecretAnchors& anchors = SecretAnchors::known();
  const SecretRule* rule = nullptr;
  for (std::size_t at = anchors.find(text, looked_, end, rule); at < end;
       at = anchors.find(text, at + 1, end, rule)) {
    const auto match = rule->look(*rule, text, at);
    if (match && !match->login.empty()) {
      const bool counts = (match->is_anywhere && (match->is_random || !is_prose(path_))) ||
                          is_file_of_dependencies(path_);
      if (counts && known_logins_.size() < most_logins &&
          known_logins_.emplace(match->login).second) {
        logins_.push_back(made(text, at, match->kind, match->value));
      }
    } else if (match) {
      const auto place = static_cast<std::size_t>(match->value.data() - text.data());
      note(text, place, match->kind, match->value);
    }
    if (is_done()) {
      return;
    }
  }
}

void SecretScan::note(std::string_view text,
                      std::size_t at,
                      std::string_view kind,
                      std::string_view value) {
  found_.push_back(made(text, at, kind, value));
}

FoundSecret SecretScan::made(std::string_view text,
                             std::size_t at,
                             std::string_view kind,
                             std::string_view value) const {
  const bool wants_line = detail_ == Detail::all && !binary_;
  return {.path = path_,
          .line = wants_line ? lines_ + lines_in(text.substr(0, at)) : 0,
          .kind = std::string{kind},
          .fingerprint = fingerprint(kind, value)};
}

/// A token in a URL is one finding: the token's. Binary files contain no URLs.
void SecretScan::add_logins() {
  std::set<int> lines;
  for (const FoundSecret& secret : found_) {
    lines.insert(secret.line);
  }
  std::erase_if(logins_,
                [&](const FoundSecret& login) { return binary_ || lines.contains(login.line); });
  found_.insert(found_.end(), logins_.begin(), logins_.end());
}

std::vector<FoundSecret> find_secrets(const Tree& tree, const std::string& path) {
  SecretScan scan{path, SecretScan::Detail::all};
  tree.stream(path, [&](std::string_view bytes) { scan.feed(bytes); });
  return scan.finish();
}

namespace {

constexpr std::size_t fingerprint_size{12};

bool is_fingerprint(std::string_view text) {
  return text.size() == fingerprint_size &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string take_word(std::string_view& text) {
  text = trim(text);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  std::string word{text.substr(0, end)};
  text = trim(text.substr(end));
  return word;
}

}  // namespace

std::vector<AllowedSecret> read_allowed_secrets(std::string_view text) {
  std::vector<AllowedSecret> allowed;
  Problems problems;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    std::string_view rest = trim(line);
    if (rest.empty() || rest.starts_with('#')) {
      continue;
    }
    AllowedSecret entry{.line = number};
    entry.fingerprint = take_word(rest);
    entry.kind = take_word(rest);
    entry.path = rest;
    if (is_fingerprint(entry.fingerprint) && !entry.path.empty()) {
      allowed.push_back(std::move(entry));
    } else {
      problems.push_back({.message = "not a line of the form `FINGERPRINT KIND PATH`",
                          .origin = fmt::format("{}:{}", allowed_secrets_file, number)});
    }
  }
  throw_if_errors(problems, ErrorKind::project);
  return allowed;
}

bool allows(const AllowedSecret& allowed, const FoundSecret& secret) {
  return allowed.fingerprint == secret.fingerprint && allowed.kind == secret.kind &&
         allowed.path == printable(secret.path);
}

std::string allowing_line(const FoundSecret& secret) {
  return fmt::format("{} {} {}", secret.fingerprint, secret.kind, printable(secret.path));
}

}  // namespace autopack::source
