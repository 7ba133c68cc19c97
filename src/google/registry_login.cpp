#include "google/registry_login.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "registry/login_files.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace autopack::google {

namespace {

/// Finds the credentials of a run when a registry first requests a login.
class Tokens {
public:
  explicit Tokens(std::function<TokenSource&()> find) : find_{std::move(find)} {}

  /// Returns null if there are none.
  TokenSource* source() {
    const std::scoped_lock lock{mutex_};
    if (source_ == nullptr && !missing_) {
      try {
        source_ = &find_();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::environment) {
          throw;
        }
        missing_ = true;
      }
    }
    return source_;
  }

private:
  std::function<TokenSource&()> find_;
  std::mutex mutex_;
  TokenSource* source_{nullptr};
  bool missing_{false};
};

}  // namespace

bool is_google_registry(const std::string& host) {
  const std::string name = to_lower(host);
  const bool regional = name.starts_with("docker.") && name.ends_with(".rep.pkg.dev");
  return name.ends_with("-docker.pkg.dev") || regional || name == "gcr.io" ||
         name.ends_with(".gcr.io");
}

registry::CredentialSource make_registry_login(std::function<TokenSource&()> tokens) {
  return [tokens = std::make_shared<Tokens>(std::move(tokens))](
             const std::string& name) -> std::optional<registry::Credential> {
    TokenSource* const source =
        is_google_registry(registry::host_of(name)) ? tokens->source() : nullptr;
    if (source == nullptr) {
      return std::nullopt;
    }
    return registry::Credential{.username = "oauth2accesstoken",
                                .password = source->token().token,
                                .origin = source->describe(),
                                .forget = [source] { source->expire(); }};
  };
}

}  // namespace autopack::google
