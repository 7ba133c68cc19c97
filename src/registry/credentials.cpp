#include "registry/credentials.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "registry/login_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <mutex>

namespace autopack::registry {

namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::string_view hub_key = "https://index.docker.io/v1/";
/// Helpers that ask a cloud take half a second, and their tokens live at least this long.
constexpr std::chrono::minutes helper_memory{5};

/// Docker's key for a host.
std::string key_of(const std::string& host) {
  const bool hub =
      host == "docker.io" || host == "index.docker.io" || host == "registry-1.docker.io";
  return hub ? std::string{hub_key} : host;
}

/// Returns a configuration file's `key` in the form of key_of: older clients wrote
/// `https://HOST/v1/`.
std::string normalised(std::string_view key) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (key.starts_with(scheme)) {
      key.remove_prefix(scheme.size());
    }
  }
  const auto slash = std::min(key.find('/'), key.size());
  const std::string_view path = key.substr(slash);
  const bool whole_host =
      path.empty() || path == "/" || path.starts_with("/v1") || path.starts_with("/v2");
  return whole_host ? key_of(to_lower(key.substr(0, slash))) : std::string{key};
}

/// Returns the host in a key of Docker's `auths`, which may be a URL; ignores path, user and query.
std::string host_in(std::string_view key) {
  const auto scheme = key.find("://");
  if (scheme != std::string_view::npos) {
    key.remove_prefix(scheme + 3);
  }
  key = key.substr(0, key.find_first_of(scheme == std::string_view::npos ? "/" : "/?#"));
  if (const auto at = key.rfind('@'); at != std::string_view::npos) {
    key.remove_prefix(at + 1);
  }
  return key_of(to_lower(key));
}

using Normal = std::string (*)(std::string_view key);

/// Returns the entry for a host in an object keyed by hosts, or null.
const Json* entry_for(const Json& config,
                      const char* section,
                      const std::string& key,
                      Normal normal = &normalised) {
  const auto found = config.find(section);
  if (found == config.end() || !found->is_object()) {
    return nullptr;
  }
  if (const auto exact = found->find(key); exact != found->end()) {
    return &*exact;
  }
  for (const auto& [name, value] : found->items()) {
    if (normal(name) == key) {
      return &value;
    }
  }
  return nullptr;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Json parse_config(const std::string& text, const std::string& origin) {
  Json config = parse_json(text);
  if (!config.is_object()) {
    throw Error(ErrorKind::usage, fmt::format("{} is not a JSON object", origin));
  }
  return config;
}

std::optional<Credential> login_in(const Json& config,
                                   const std::string& key,
                                   const std::string& origin,
                                   Normal normal) {
  const Json* entry = entry_for(config, "auths", key, normal);
  if (entry == nullptr || !entry->is_object()) {
    return std::nullopt;
  }
  Credential credential{.username = text_of(*entry, "username"),
                        .password = Secret{text_of(*entry, "password")},
                        .identity_token = Secret{text_of(*entry, "identitytoken")},
                        .registry_token = Secret{text_of(*entry, "registrytoken")},
                        .origin = origin};
  if (const std::string auth = text_of(*entry, "auth"); !auth.empty()) {
    std::string pair = base64_decode(auth).value_or("");
    const auto colon = pair.find(':');
    if (colon == std::string::npos) {
      throw Error(ErrorKind::usage,
                  fmt::format("`auth` of `{}` in {} is not base64 of `USER:PASSWORD`", key, origin))
          .hint(fmt::format("docker login {}", key == hub_key ? "" : key));
    }
    pair.erase(pair.find_last_not_of('\0') + 1);
    credential.username = pair.substr(0, colon);
    credential.password = Secret{pair.substr(std::min(colon + 1, pair.size()))};
  }
  if (!credential.identity_token.empty()) {
    credential.username.clear();
    credential.password = Secret{};
  }
  const bool any = !credential.identity_token.empty() || !credential.registry_token.empty() ||
                   !credential.username.empty();
  return any ? std::optional{credential} : std::nullopt;
}

/// The logins of one configuration in this process. Shared by copies of the source and by threads.
class DockerLogins {
public:
  /// `variable` names a variable whose configuration takes precedence over `path`. Without one, the
  /// file is podman's, whose keys may name repositories.
  DockerLogins(Environment environment,
               std::filesystem::path path,
               std::optional<std::string> variable,
               const Cancellation* cancellation)
      : environment_{std::move(environment)},
        path_{std::move(path)},
        variable_name_{std::move(variable)},
        cancellation_{cancellation} {}

  /// `name` is a host, or `HOST/PATH`.
  std::optional<Credential> find(const std::string& name) {
    const std::scoped_lock lock{mutex_};
    read();
    const std::string key = key_of(host_of(name));
    if (variable_name_) {
      if (auto login = login_in(variable_, key, fmt::format("`{}`", *variable_name_), &host_in)) {
        return login;
      }
    }
    const Json* own = entry_for(file_, "credHelpers", key);
    const std::string helper =
        own != nullptr && own->is_string() ? own->get<std::string>() : text_of(file_, "credsStore");
    if (!helper.empty()) {
      if (auto login = remembered(helper, key)) {
        return login;
      }
    }
    return variable_name_ ? login_in(file_, key, origin_, &host_in) : login_for_path(name);
  }

  /// Drops a helper's cached answer for the host of `name`, so that it is asked again.
  void forget(const std::string& name) {
    const std::scoped_lock lock{mutex_};
    answers_.erase(key_of(host_of(name)));
  }

private:
  /// Finds the longest key that is a prefix of `name` and ends at a slash.
  std::optional<Credential> login_for_path(std::string name) const {
    for (auto slash = name.rfind('/'); slash != std::string::npos; slash = name.rfind('/')) {
      if (auto login = login_in(file_, name, origin_, &normalised)) {
        return login;
      }
      name.resize(slash);
    }
    return login_in(file_, key_of(to_lower(name)), origin_, &normalised);
  }

  void read() {
    if (read_) {
      return;
    }
    const std::string home = environment_.home().string();
    const bool in_home = path_.string().starts_with(home + "/");
    origin_ =
        fmt::format("`{}`", in_home ? "~" + path_.string().substr(home.size()) : path_.string());
    if (const auto text = variable_name_ ? environment_.get(*variable_name_) : std::nullopt) {
      variable_ = parse_config(*text, fmt::format("`{}`", *variable_name_));
    }
    if (const auto text = read_file_if_exists(path_); text && !trim(*text).empty()) {
      file_ = parse_config(*text, origin_);
    }
    read_ = true;
  }

  std::optional<Credential> remembered(const std::string& helper, const std::string& key) {
    const auto found = answers_.find(key);
    if (found != answers_.end() && Clock::now() - found->second.when < helper_memory) {
      return found->second.login;
    }
    auto login = ask_helper(environment_, helper, key, origin_, cancellation_);
    answers_.insert_or_assign(key, Answer{login, Clock::now()});
    return login;
  }

  struct Answer {
    std::optional<Credential> login;
    Clock::time_point when;
  };

  Environment environment_;
  std::filesystem::path path_;
  std::optional<std::string> variable_name_;
  const Cancellation* cancellation_;
  std::mutex mutex_;
  bool read_{false};
  std::string origin_;
  Json variable_ = Json::object();
  Json file_ = Json::object();
  std::map<std::string, Answer> answers_;
};

CredentialSource source_of(const std::shared_ptr<DockerLogins>& logins) {
  return [logins](const std::string& name) {
    auto login = logins->find(name);
    if (login) {
      login->forget = [logins, name] { logins->forget(name); };
    }
    return login;
  };
}

}  // namespace

std::string host_of(const std::string& name) {
  return to_lower(name.substr(0, name.find('/')));
}

std::vector<std::filesystem::path> podman_files(const Environment& environment, unsigned user) {
  if (const auto named = environment.get("REGISTRY_AUTH_FILE")) {
    return {*named};
  }
  const std::filesystem::path home = environment.home();
  const auto runtime = environment.get("XDG_RUNTIME_DIR");
  const auto settings = environment.get("XDG_CONFIG_HOME");
  const std::filesystem::path name = std::filesystem::path{"containers"} / "auth.json";
  const auto session = runtime ? std::filesystem::path{*runtime}
                               : std::filesystem::path{fmt::format("/run/containers/{}", user)};
  return {runtime ? session / name : session / "auth.json",
          (settings ? std::filesystem::path{*settings} : home / ".config") / name};
}

CredentialSource make_docker_credentials(const Environment& environment,
                                         const Cancellation* cancellation) {
  return source_of(std::make_shared<DockerLogins>(environment,
                                                  environment.docker_directory() / "config.json",
                                                  "DOCKER_AUTH_CONFIG", cancellation));
}

CredentialSource make_podman_credentials(const Environment& environment,
                                         const Cancellation* cancellation) {
  std::vector<CredentialSource> sources;
  for (const auto& file : podman_files(environment, ::getuid())) {
    sources.push_back(
        source_of(std::make_shared<DockerLogins>(environment, file, std::nullopt, cancellation)));
  }
  return first_of(std::move(sources));
}

CredentialSource first_of(std::vector<CredentialSource> sources) {
  return [sources = std::move(sources)](const std::string& name) -> std::optional<Credential> {
    for (const auto& source : sources) {
      if (auto login = source(name)) {
        return login;
      }
    }
    return std::nullopt;
  };
}

Secret to_registry_auth(const std::optional<Credential>& credential, const std::string& host) {
  Json fields = Json::object();
  if (credential) {
    const auto put = [&](const char* key, const std::string& value) {
      if (!value.empty()) {
        fields[key] = value;
      }
    };
    put("username", credential->username);
    put("password", credential->password.reveal());
    put("identitytoken", credential->identity_token.reveal());
    put("registrytoken", credential->registry_token.reveal());
    put("serveraddress", key_of(host));
  }
  std::string text = base64url_encode(write_json(fields));
  // The engine's decoder wants the padding.
  text.append((4 - text.size() % 4) % 4, '=');
  return Secret{std::move(text)};
}

namespace {

constexpr std::string_view not_found = "credentials not found in native keychain";
constexpr std::string_view no_secret = "***";
constexpr std::size_t message_limit = 400;

bool is_helper_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

/// Long runs of letters and digits are tokens or keys, not words.
bool looks_secret(std::string_view word) {
  const auto has = [&](int (*test)(int)) {
    return std::ranges::any_of(word, [&](unsigned char c) { return test(c) != 0; });
  };
  return word.size() >= 30 && has(&std::isdigit) && has(&std::isalpha);
}

bool announces_secret(std::string_view word) {
  const std::string lower = to_lower(word);
  static constexpr std::array<std::string_view, 5> names{"password", "secret", "token", "bearer",
                                                         "basic"};
  return std::ranges::any_of(names, [&](std::string_view name) { return lower.ends_with(name); });
}

std::optional<Credential> read_answer(const std::string& name, const std::string& output) {
  const auto answer = parse_json(output);
  const auto text = [&](const char* key) -> std::string {
    const auto found = answer.find(key);
    return found != answer.end() && found->is_string() ? found->get<std::string>() : "";
  };
  if (!answer.is_object()) {
    throw Error(
        ErrorKind::environment,
        fmt::format("the credential helper `docker-credential-{}` did not print JSON", name));
  }
  Credential credential{.origin = fmt::format("helper `{}`", name)};
  if (text("Secret").empty()) {
    return std::nullopt;
  }
  if (text("Username") == "<token>") {
    credential.identity_token = Secret{text("Secret")};
  } else {
    credential.username = text("Username");
    credential.password = Secret{text("Secret")};
  }
  return credential;
}

}  // namespace

std::string without_secrets(std::string_view text) {
  const std::string source = redact_credentials(join(split(trim(text), '\n'), " "));
  std::string result;
  bool announced = false;
  for (std::string_view rest = source; !rest.empty();) {
    const auto end = std::min(rest.find_first_of(" \t:=\"'`,;()[]{}"), rest.size());
    const std::string_view word = rest.substr(0, end);
    const bool hidden =
        !word.empty() && (announced || std::ranges::any_of(split(word, '/'), looks_secret));
    result += hidden ? no_secret : word;
    if (!word.empty()) {
      announced = announces_secret(word);
    }
    if (end == rest.size()) {
      break;
    }
    result += rest[end];
    rest.remove_prefix(end + 1);
  }
  return printable(result.size() > message_limit ? result.substr(0, message_limit) + "..."
                                                 : result);
}

std::optional<Credential> ask_helper(const Environment& environment,
                                     const std::string& name,
                                     const std::string& server,
                                     const std::string& configured_in,
                                     const Cancellation* cancellation) {
  const std::string program = "docker-credential-" + name;
  if (!is_helper_name(name)) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not the name of a credential helper ({})",
                                              printable(name), configured_in));
  }
  const auto path = find_program(program, environment.get("PATH").value_or(""));
  if (!path) {
    throw Error(ErrorKind::environment,
                fmt::format("the credential helper `{}` is not on PATH", program))
        .cause(fmt::format("{} names it for `{}`", configured_in, server))
        .hint(fmt::format("install `{}`, or remove it from {}", program, configured_in));
  }
  const auto result =
      run_process({*path, "get"}, server,
                  {.environment = {environment.all().begin(), environment.all().end()},
                   .cancellation = cancellation});
  if (result && result->status == 0) {
    return read_answer(name, result->output);
  }
  if (result && trim(result->output) == not_found) {
    return std::nullopt;
  }
  // Helpers print errors on either stream. Output that looks like an answer is not shown.
  const bool on_output =
      result && trim(result->errors).empty() && result->output.find('{') == std::string::npos;
  const std::string said =
      !result ? "" : without_secrets(on_output ? result->output : result->errors);
  throw Error(ErrorKind::environment,
              fmt::format("the credential helper `{}` has no login for `{}`: exit status {}",
                          program, server, result ? result->status : 127))
      .cause(said.empty() ? "it printed no reason" : said)
      .hint(fmt::format("check its output: `echo {} | {} get`", shell_quote(server), program));
}

}  // namespace autopack::registry
