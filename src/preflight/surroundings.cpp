#include "preflight/surroundings.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "http/client.hpp"

#include <fmt/format.h>

namespace autopack::preflight {

namespace {

/// Building an image with a framework takes several gigabytes.
constexpr std::uint64_t little_space = 5'000'000'000;
constexpr std::int64_t minute = 60;

}  // namespace

Problems or_error(const std::string& check, const std::function<Problems()>& look) {
  try {
    return look();
  } catch (const http::TransportError&) {
    throw;
  } catch (const Error& error) {
    auto problems = error.as_problems();
    for (auto& problem : problems) {
      problem.check = check;
    }
    return problems;
  }
}

Problem judge_engine(const engine::EngineInfo& info, const engine::Endpoint& endpoint) {
  const auto what = fmt::format("{} {} at `{}`, from {}", info.podman ? "Podman" : "Docker Engine",
                                printable(info.version), endpoint.text(), endpoint.origin);
  const auto version = fmt::format("API {}", printable(info.api_version));
  if (info.podman) {
    return ok("engine", what, version + ", builds with Buildah; index credentials need BuildKit");
  }
  if (info.store_lacks_upload) {
    return warning(
        "engine", what + ", with containerd's store",
        "its BuildKit cannot read what autopack sends with this store, so the classic "
        "builder is used: without index credentials and caches of pip",
        {"sudo apt-get install docker-ce   # Docker 28 or newer can",
         R"(set `"features": {"containerd-snapshotter": false}` in /etc/docker/daemon.json)"});
  }
  if (!info.buildkit) {
    return warning("engine", what + ", without BuildKit",
                   "index credentials and caches of pip need BuildKit",
                   {"sudo apt-get install docker.io, or use an engine of 18.09 or newer"});
  }
  return ok("engine", what, version + ", BuildKit");
}

Problems judge_settings(const engine::EngineSettings& settings, const Environment& environment) {
  Problems findings;
  if (!settings.store.empty()) {
    findings.push_back(
        ok("store", fmt::format("the engine keeps images in {}", printable(settings.store))));
  }
  if (settings.free_bytes) {
    const auto what = fmt::format("{} are free in `{}`", human_size(*settings.free_bytes),
                                  printable(settings.root_directory));
    findings.push_back(*settings.free_bytes >= little_space
                           ? ok("space", what)
                           : warning("space", what, "a build with a framework takes more",
                                     {"docker system df", "docker builder prune"}));
  }
  auto own = environment.get("HTTPS_PROXY");
  own = own ? own : environment.get("https_proxy");
  if (own && !settings.https_proxy) {
    findings.push_back(
        warning("proxy", "the engine does not know the proxy that `HTTPS_PROXY` names",
                "it pulls and pushes without a proxy, which may fail",
                {fmt::format("sudo systemctl edit docker   # [Service] Environment=HTTPS_PROXY={}",
                             redact_url(*own)),
                 "sudo systemctl restart docker"}));
  } else if (own) {
    findings.push_back(ok("proxy", "the engine uses a proxy"));
  }
  return findings;
}

Problem judge_login(const std::optional<registry::Credential>& login, const std::string& host) {
  if (!login) {
    const bool is_google = host.ends_with(".pkg.dev") || host.ends_with("gcr.io");
    return warning("registry-source", fmt::format("no login for `{}` was found", host),
                   "a push would be anonymous, which few registries accept",
                   {is_google ? "gcloud auth configure-docker " + host : "docker login " + host});
  }
  return ok("registry-source", fmt::format("the login for `{}` comes from {}", host, login->origin),
            login->username.empty()
                ? std::nullopt
                : std::optional{fmt::format("user `{}`", printable(login->username))});
}

Problems judge_sudo(const Environment& environment) {
  const auto user = environment.get("SUDO_USER");
  if (!user || *user == "root") {
    return {};
  }
  return {warning(
      "sudo", fmt::format("autopack runs under sudo, started by `{}`", printable(*user)),
      "autopack reads logins and settings of root's home directory",
      {fmt::format("sudo usermod -aG docker {}   # then without sudo", shell_quote(*user))})};
}

Problem judge_credentials(const google::TokenSource& source,
                          const google::AccessToken& token,
                          std::int64_t now) {
  const auto what = "Google credentials: " + source.describe();
  if (token.expires_at == 0) {
    return warning("credentials", what, "the token has no known expiry, and it is not renewed",
                   {"gcloud auth application-default login"});
  }
  return ok(
      "credentials", what,
      fmt::format("the token expires in {} min and is renewed", (token.expires_at - now) / minute));
}

Problem judge_setting(const std::string& check,
                      const std::string& name,
                      const google::Setting& setting,
                      const std::vector<std::string>& remedies) {
  if (!setting.value) {
    return failing(check, fmt::format("no {} is set", name), "no job can be submitted", remedies);
  }
  return ok(check, fmt::format("{} `{}`", name, printable(*setting.value)),
            "from " + setting.origin);
}

}  // namespace autopack::preflight
