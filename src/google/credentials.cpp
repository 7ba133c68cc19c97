#include "google/credentials.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

#include <thread>

namespace autopack::google {

using nlohmann::json;

namespace fs = std::filesystem;

namespace {

/// A token with less time left than this is fetched anew (google-auth's 3 min 45 s).
constexpr std::int64_t refresh_before = 225;

constexpr auto login_hint = "log in: gcloud auth application-default login";
constexpr auto key_hint =
    "or name a service account's key: export GOOGLE_APPLICATION_CREDENTIALS=KEY.json";

class AccessTokenFile final : public CachingTokenSource {
public:
  explicit AccessTokenFile(CredentialOptions options) : CachingTokenSource{std::move(options)} {
    static_cast<void>(read());
  }

  std::string describe() const override { return fmt::format("access token file `{}`", path()); }

  std::string project() const override { return {}; }

protected:
  AccessToken fetch() override { return read(); }

private:
  std::string path() const { return options().access_token_file.string(); }

  AccessToken read() const {
    const auto text = read_file_if_exists(options().access_token_file);
    if (!text) {
      throw Error(ErrorKind::usage, fmt::format("{} does not exist", describe()))
          .hint(fmt::format("make it: gcloud auth print-access-token >{}", shell_quote(path())));
    }
    const auto token = trim(*text);
    if (token.empty() || token.find_first_of(" \t\r\n") != std::string_view::npos) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} {}", describe(),
                              token.empty() ? "is empty" : "holds more than one word"));
    }
    return {.token = Secret{std::string{token}}};
  }
};

/// Parse errors are not told: they quote the file, which holds a secret.
CredentialsFile load(const fs::path& path) {
  const auto text = read_file(path);
  auto content = parse_json(text);
  if (!content.is_object()) {
    throw Error(ErrorKind::usage, fmt::format("credentials file `{}` is not JSON", path.string()));
  }
  return {.path = path, .content = std::make_shared<const json>(std::move(content))};
}

std::unique_ptr<TokenSource> from_file(const CredentialOptions& options, const fs::path& path) {
  auto file = load(path);
  const auto type = file.optional("type");
  if (type == "service_account") {
    return make_service_account(options, std::move(file));
  }
  if (type == "authorized_user") {
    return make_authorized_user(options, std::move(file));
  }
  if (type.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` names no `type`, so it is no credentials file", path.string()))
        .hint(login_hint);
  }
  throw Error(ErrorKind::usage,
              fmt::format("credentials file `{}` is of type `{}`, which is not supported yet; "
                          "`service_account` and `authorized_user` are",
                          path.string(), printable(type.substr(0, 60))))
      .hint(
          "gcloud can make a token of it: gcloud auth print-access-token >TOKEN, then "
          "--access-token-file=TOKEN");
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

}  // namespace

std::string CredentialsFile::optional(const char* key) const {
  const auto found = content->find(key);
  return found != content->end() && found->is_string() ? found->get<std::string>() : "";
}

std::string CredentialsFile::required(const char* key) const {
  auto value = optional(key);
  if (value.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("credentials file `{}` has no `{}`", path.string(), key));
  }
  return value;
}

AccessToken CachingTokenSource::token() {
  const std::lock_guard lock{mutex_};
  const bool ends_soon =
      token_ && token_->expires_at != 0 && token_->expires_at - options_.now() < refresh_before;
  if (!token_ || ends_soon) {
    token_ = fetch();
  }
  return *token_;
}

void CachingTokenSource::expire() {
  const std::lock_guard lock{mutex_};
  token_.reset();
}

std::string CachingTokenSource::quota_project() const {
  return options_.billing_project.empty()
             ? options_.environment->get("GOOGLE_CLOUD_QUOTA_PROJECT").value_or("")
             : options_.billing_project;
}

std::unique_ptr<TokenSource> make_access_token_file(CredentialOptions options) {
  return std::make_unique<AccessTokenFile>(std::move(options));
}

std::unique_ptr<TokenSource> find_credentials(const CredentialOptions& given) {
  const auto options = with_defaults(given);
  if (!options.access_token_file.empty()) {
    return make_access_token_file(options);
  }
  if (const auto named = options.environment->get("GOOGLE_APPLICATION_CREDENTIALS")) {
    if (!fs::exists(*named)) {
      throw Error(ErrorKind::usage,
                  fmt::format("credentials file `{}`, named by `GOOGLE_APPLICATION_CREDENTIALS`, "
                              "does not exist",
                              *named));
    }
    return from_file(options, *named);
  }
  const auto known =
      options.environment->gcloud_directory() / "application_default_credentials.json";
  if (fs::exists(known)) {
    return from_file(options, known);
  }
  throw Error(ErrorKind::environment, "no Google credentials were found")
      .cause(fmt::format("`GOOGLE_APPLICATION_CREDENTIALS` is not set, and `{}` does not exist",
                         known.string()))
      .hint(login_hint)
      .hint(key_hint);
}

}  // namespace autopack::google
