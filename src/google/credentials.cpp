#include "google/credentials.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "google/token_cache.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

// Follows gcloud's order: an access token file, then the account, then Application Default
// Credentials that remember the source of their token, for messages.

namespace autopack::google {

using nlohmann::json;

namespace fs = std::filesystem;

namespace {

/// Refreshes a token with less time left than this (google-auth's 3 min 45 s).
constexpr std::int64_t refresh_before = 225;

constexpr auto login_hint = "log in: gcloud auth application-default login";
constexpr auto key_hint =
    "or name a service account's key: export GOOGLE_APPLICATION_CREDENTIALS=KEY.json";

/// Parse errors are not printed: they quote the file, which contains a secret.
CredentialsFile load(const fs::path& path, const std::string& origin) {
  CredentialsFile file{.path = path, .origin = origin};
  auto content = parse_json(read_file(path, FileSort::any));
  if (!content.is_object()) {
    throw file.fault("is not JSON");
  }
  file.content = std::make_shared<const json>(std::move(content));
  return file;
}

CredentialOptions with_defaults(CredentialOptions options) {
  if (!options.now) {
    options.now = [] {
      return std::chrono::duration_cast<std::chrono::seconds>(
                 std::chrono::system_clock::now().time_since_epoch())
          .count();
    };
  }
  if (!options.sleep) {
    options.sleep = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
  }
  return options;
}

std::unique_ptr<CachingTokenSource> find_source(const CredentialOptions& options) {
  if (options.access_token_file) {
    return make_access_token_file(options);
  }
  if (options.account.value) {
    return make_gcloud_account(options, *options.account.value,
                               "named by " + options.account.origin);
  }
  if (const auto named = options.environment->get("GOOGLE_APPLICATION_CREDENTIALS")) {
    const std::string origin = "named by `GOOGLE_APPLICATION_CREDENTIALS`";
    if (!fs::exists(*named)) {
      throw CredentialsFile{.path = *named, .origin = origin}.fault("does not exist");
    }
    return make_from_file(options, load(*named, origin));
  }
  const auto known =
      options.environment->gcloud_directory() / "application_default_credentials.json";
  if (fs::exists(known)) {
    return make_from_file(options, load(known, "gcloud's application default credentials"));
  }
  std::string untried;
  if (const auto account = options.configuration.get("core/account")) {
    try {
      return make_gcloud_account(
          options, *account,
          fmt::format("of gcloud's configuration `{}`", options.configuration.name));
    } catch (const Error& error) {
      untried = error.message();
    }
  }
  if (auto source = find_metadata_server(options)) {
    return source;
  }
  auto error =
      Error(ErrorKind::environment, "no Google credentials were found")
          .cause(fmt::format("`GOOGLE_APPLICATION_CREDENTIALS` is not set, `{}` does not exist, "
                             "and no metadata server of Google Cloud answers",
                             known.string()));
  if (!untried.empty()) {
    error.cause(untried);
  }
  throw error.hint(login_hint).hint(key_hint);
}

/// The project becomes a header.
void check_quota_project(const std::string& project) {
  if (project.size() > 200 ||
      !std::ranges::all_of(project, [](char c) { return c > ' ' && c < '\x7f'; })) {
    throw Error(ErrorKind::usage, fmt::format("the quota project `{}` is not a project id",
                                              printable(project.substr(0, 200))));
  }
}

}  // namespace

bool CachingTokenSource::lasts(const AccessToken& token) const {
  return token.expires_at == 0 || token.expires_at - options_.now() >= refresh_before;
}

AccessToken CachingTokenSource::token() {
  const std::lock_guard lock{mutex_};
  if (token_ && lasts(*token_)) {
    return *token_;
  }
  const TokenCache cache{options_.token_directory};
  const auto own = identity();
  token_ = own ? cache.read(*own) : std::nullopt;
  if (!token_ || !lasts(*token_)) {
    token_ = fetch();
    if (own) {
      cache.write(*own, *token_);
    }
  }
  return *token_;
}

void CachingTokenSource::expire() {
  const std::lock_guard lock{mutex_};
  token_.reset();
  if (const auto own = identity()) {
    TokenCache{options_.token_directory}.erase(*own);
  }
}

std::optional<std::string> CachingTokenSource::quota_project() const {
  return options_.billing_project ? options_.billing_project
                                  : options_.environment->get("GOOGLE_CLOUD_QUOTA_PROJECT");
}

std::unique_ptr<TokenSource> find_credentials(const CredentialOptions& given) {
  const auto options = with_defaults(given);
  std::optional<Impersonation> target;
  if (options.impersonate.value) {
    target = parse_impersonation(options);
  }
  auto source = find_source(options);
  if (target) {
    source = make_impersonated(options, std::move(*target), std::move(source));
  }
  const auto payer = source->quota_project();
  if (payer) {
    check_quota_project(*payer);
  }
  if (options.reporter != nullptr) {
    options.reporter->detail(fmt::format("credentials: {}{}", source->describe(),
                                         payer ? ", quota project " + *payer : ""));
  }
  return source;
}

}  // namespace autopack::google
