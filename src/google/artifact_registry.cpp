#include "google/artifact_registry.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/api_error.hpp"
#include "http/retry.hpp"
#include "registry/login_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace autopack::google {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds first_wait = 250ms;
constexpr std::chrono::milliseconds longest_wait = 5s;
/// Google creates a repository within seconds; a longer operation hangs.
constexpr std::chrono::milliseconds longest_operation = 5min;

bool is_done(const json& operation) {
  const auto found = operation.find("done");
  return found != operation.end() && *found == true;
}

class Maker {
public:
  Maker(const ArtifactRegistryOptions& options, const RepositoryName& name)
      : options_{options}, name_{name} {
    std::string base =
        options.endpoint_override.value_or("https://artifactregistry.googleapis.com");
    while (base.ends_with('/')) {
      base.pop_back();
    }
    api_ = base + "/v1/";
  }

  Ensured ensure() {
    if (exists()) {
      return Ensured::existed;
    }
    return create() ? Ensured::created : Ensured::existed;
  }

private:
  /// Repeating is safe here: the second attempt finds a repository that the first one created.
  http::Response ask(const http::Request& request) const {
    return http::retry([&] { return send(options_.caller, request); },
                       [this](std::chrono::milliseconds time) { pause(time); },
                       {.attempts = 4, .first = 2 * first_wait});
  }

  void pause(std::chrono::milliseconds time) const {
    if (options_.sleep) {
      options_.sleep(time);
    }
    while (!options_.sleep && time > 0ms) {
      const auto part = std::min(time, 100ms);
      std::this_thread::sleep_for(part);
      time -= part;
      check_cancelled();
    }
    check_cancelled();
  }

  void check_cancelled() const {
    if (options_.cancellation != nullptr) {
      options_.cancellation->throw_if_requested();
    }
  }

  bool exists() const {
    const http::Request request{.what = fmt::format("look at repository `{}`", name_.str()),
                                .url = api_ + name_.str()};
    const auto response = ask(request);
    if (response.status == 404) {
      return false;
    }
    if (!response.ok()) {
      throw refusal(request, response);
    }
    const auto repository = object(request, response);
    if (const auto format = text_at(repository, "format"); format != "DOCKER") {
      throw unfit(fmt::format("its format is `{}`, not `DOCKER`", printable(format)));
    }
    const auto mode = text_at(repository, "mode");
    if (mode == "REMOTE_REPOSITORY" || mode == "VIRTUAL_REPOSITORY") {
      throw unfit(fmt::format("its mode is `{}`, which does not accept pushes", mode));
    }
    return true;
  }

  /// Returns false if somebody else created it meanwhile.
  bool create() const {
    const http::Request request{
        .what = fmt::format("create repository `{}`", name_.str()),
        .method = "POST",
        .url = fmt::format("{}projects/{}/locations/{}/repositories?repositoryId={}", api_,
                           name_.project, name_.location, percent_encode(name_.repository)),
        .body = write_json(json{{"format", "DOCKER"},
                                {"mode", "STANDARD_REPOSITORY"},
                                {"description", "images of training jobs, made by autopack"}})};
    const auto response = ask(request);
    if (response.status == 409) {
      return !exists();
    }
    if (!response.ok()) {
      throw refusal(request, response);
    }
    await(request, object(request, response));
    return true;
  }

  void await(const http::Request& request, json operation) const {
    const auto name = text_at(operation, "name");
    const http::Request look{.what = request.what, .url = api_ + name};
    auto wait = first_wait;
    for (auto waited = 0ms; !is_done(operation); waited += wait) {
      if (!is_operation(name)) {
        throw Error(ErrorKind::remote, "could not " + request.what)
            .cause("POST " + redact_url(request.url) + ": the response has no operation");
      }
      if (waited > longest_operation) {
        throw Error(ErrorKind::remote, "could not " + request.what)
            .cause(fmt::format("operation `{}` has not ended after {} minutes", name,
                               longest_operation / 1min));
      }
      pause(wait);
      wait = std::min(wait * 2, longest_wait);
      const auto response = ask(look);
      if (!response.ok()) {
        throw refusal(look, response);
      }
      operation = object(look, response);
    }
    if (operation.contains("error")) {
      throw refusal(request,
                    {.status = 200, .body = write_json(json{{"error", operation["error"]}})});
    }
  }

  /// The name becomes part of a URL that is called with a token.
  static bool is_operation(std::string_view name) {
    return name.starts_with("projects/") && name.find("..") == std::string_view::npos &&
           is_alphanumeric(name, "-_./:");
  }

  static json object(const http::Request& request, const http::Response& response) {
    auto body = parse_json(response.body);
    if (!body.is_object()) {
      throw Error(ErrorKind::remote, "could not " + request.what)
          .cause(fmt::format("{} {}: {}, but the response is not a JSON object", request.method,
                             redact_url(request.url), response.status));
    }
    return body;
  }

  Error unfit(const std::string& why) const {
    return Error(ErrorKind::usage,
                 fmt::format("repository `{}` cannot hold the image", name_.str()))
        .cause(why)
        .hint(fmt::format("name another with `output-image-uri={}-docker.pkg.dev/{}/REPOSITORY/"
                          "IMAGE`",
                          name_.location, replace_all(name_.project, ":", "/")));
  }

  Error refusal(const http::Request& request, const http::Response& response) const {
    const auto answer = read_api_error(response);
    auto error = Error(ErrorKind::remote, "could not " + request.what)
                     .cause(describe(answer, request.method, request.url));
    if (!answer.message.empty()) {
      error.cause(answer.message);
    }
    if (answer.reason == "SERVICE_DISABLED" ||
        answer.message.find("has not been used in project") != std::string::npos) {
      return error.hint(fmt::format(
          "switch the API on: gcloud services enable artifactregistry.googleapis.com --project={}",
          shell_quote(name_.project)));
    }
    if (response.status == 403) {
      error.hint("somebody with the role roles/artifactregistry.admin can make it: " +
                 create_command(name_));
    } else if (response.status == 400 || response.status == 404) {
      error.hint("see where there may be repositories: gcloud artifacts locations list --project=" +
                 shell_quote(name_.project));
    }
    return error;
  }

  const ArtifactRegistryOptions& options_;
  const RepositoryName& name_;
  std::string api_;
};

std::optional<std::string> location_of(std::string_view host) {
  constexpr std::string_view regional = "-docker.pkg.dev";
  constexpr std::string_view first = "docker.";
  constexpr std::string_view last = ".rep.pkg.dev";
  if (host.ends_with(regional) && host != regional) {
    return std::string{host.substr(0, host.size() - regional.size())};
  }
  if (host.starts_with(first) && host.ends_with(last) && host.size() > first.size() + last.size()) {
    return std::string{host.substr(first.size(), host.size() - first.size() - last.size())};
  }
  return std::nullopt;
}

}  // namespace

std::string RepositoryName::str() const {
  return fmt::format("projects/{}/locations/{}/repositories/{}", project, location, repository);
}

std::optional<RepositoryName> repository_of(const image::Reference& image) {
  const auto location = location_of(image.host);
  auto parts = split(image.path, '/');
  // `example.com/my-project` means the project `example.com:my-project`
  if (parts.size() > 1 && parts[0].find('.') != std::string::npos) {
    parts[1] = parts[0] + ":" + parts[1];
    parts.erase(parts.begin());
  }
  if (!location || parts.size() < 3) {
    return std::nullopt;
  }
  return RepositoryName{.project = parts[0], .location = *location, .repository = parts[1]};
}

std::string create_command(const RepositoryName& name) {
  return fmt::format(
      "gcloud artifacts repositories create {} --repository-format=docker --location={} "
      "--project={}",
      shell_quote(name.repository), shell_quote(name.location), shell_quote(name.project));
}

Ensured ensure_repository(const ArtifactRegistryOptions& options, const RepositoryName& name) {
  return Maker{options, name}.ensure();
}

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
