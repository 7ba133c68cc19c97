#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "google/timestamp.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::google {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds longest_run = 60s;

bool is_account(std::string_view text) {
  return text.size() < 300 && text.find('@') != std::string_view::npos &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

/// Runs gcloud for tokens: only gcloud can read the files with its logins, and only gcloud supports
/// the additional steps that an organisation may require at login.
class GcloudAccount final : public CachingTokenSource {
public:
  GcloudAccount(CredentialOptions options,
                std::string program,
                std::string account,
                std::string why)
      : CachingTokenSource{std::move(options)},
        program_{std::move(program)},
        account_{std::move(account)},
        why_{std::move(why)} {}

  std::string describe() const override {
    return fmt::format("gcloud's account `{}`, {}", account_, why_);
  }

  std::optional<std::string> quota_project() const override {
    auto set = CachingTokenSource::quota_project();
    if (set) {
      return set;
    }
    const auto payer =
        find_property("billing/quota_project", *options().environment, options().configuration);
    // gcloud's names for the current project, which pays anyway
    const bool is_current =
        payer.value && (*payer.value == "LEGACY" || payer.value->starts_with("CURRENT_PROJECT"));
    return is_current ? std::nullopt : payer.value;
  }

  std::optional<std::string> identity() const override {
    return fmt::format("gcloud\n{}\n{}", options().environment->gcloud_directory().string(),
                       account_);
  }

protected:
  AccessToken fetch() override {
    const std::string what = fmt::format("could not get an access token of {}", describe());
    const auto result = run_process({program_, "config", "config-helper", "--min-expiry=5m",
                                     "--format=json(credential)", "--account=" + account_},
                                    "",
                                    {.environment = variables(),
                                     .timeout = longest_run,
                                     .cancellation = options().cancellation});
    if (!result || result->status != 0) {
      throw Error(ErrorKind::environment, what)
          .cause(result ? words_of(result->errors) : fmt::format("`{}` is not there", program_))
          .hint("log in: gcloud auth login " + shell_quote(account_));
    }
    const auto answer = parse_json(result->output);
    const json credential = answer.is_object() ? answer.value("credential", json{}) : json{};
    const auto token = text_at(credential, "access_token");
    if (token.empty()) {
      throw Error(ErrorKind::environment, what).cause("gcloud printed no access token");
    }
    const auto end = Timestamp::parse(text_at(credential, "token_expiry"));
    return {.token = Secret{token}, .expires_at = end ? end->seconds : 0};
  }

private:
  /// autopack does impersonation itself, and requests that gcloud logs contain tokens.
  std::map<std::string, std::string> variables() const {
    return {{"CLOUDSDK_CONFIG", options().environment->gcloud_directory().string()},
            {"CLOUDSDK_ACTIVE_CONFIG_NAME",
             options().configuration.name.empty() ? "default" : options().configuration.name},
            {"CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT", ""},
            {"CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", ""},
            {"CLOUDSDK_CORE_DISABLE_PROMPTS", "1"},
            {"CLOUDSDK_CORE_LOG_HTTP", "false"}};
  }

  /// Returns the first line of gcloud's errors, without its prefix.
  static std::string words_of(const std::string& errors) {
    for (const auto& line : split(errors, '\n')) {
      const auto text = trim(line);
      if (text.starts_with("ERROR: ")) {
        const auto end = text.find(") ");
        return printable(text.substr(end == std::string_view::npos ? 7 : end + 2).substr(0, 300));
      }
    }
    return "gcloud: " + printable(trim(std::string_view{errors}.substr(0, 300)));
  }

  std::string program_;
  std::string account_;
  std::string why_;
};

}  // namespace

std::unique_ptr<CachingTokenSource> make_gcloud_account(CredentialOptions options,
                                                        const std::string& account,
                                                        const std::string& why) {
  if (!is_account(account)) {
    throw Error(ErrorKind::usage, fmt::format("`{}`, {}, is not an account in gcloud",
                                              printable(account.substr(0, 200)), why))
        .hint("see which there are: gcloud auth list");
  }
  const auto program = find_program("gcloud", options.environment->get("PATH").value_or(""));
  if (!program) {
    throw Error(ErrorKind::environment,
                fmt::format("gcloud's account `{}`, {}, cannot be used: there is no `gcloud`",
                            account, why))
        .hint("log in for other programs too: gcloud auth application-default login");
  }
  return std::make_unique<GcloudAccount>(std::move(options), *program, account, why);
}

}  // namespace autopack::google
