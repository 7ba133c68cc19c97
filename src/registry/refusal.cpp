#include "registry/refusal.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "registry/artifact_name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::registry {

namespace {

constexpr std::size_t text_limit = 300;
constexpr std::size_t findings_shown = 3;

struct Said {
  std::optional<std::string> code{};  ///< of the first error that has one
  std::string text{};                 ///< `DENIED: requested access is denied`
};

std::string shortened(std::string_view text) {
  const std::string line = printable(trim(text));
  return line.size() > text_limit ? line.substr(0, text_limit) + "..." : line;
}

Said read_body(const std::string& body) {
  const auto answer = parse_json(body);
  const auto text = [](const nlohmann::json& object, const char* key) -> std::string {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
  };
  Said said;
  if (!answer.is_object() || !answer.contains("errors") || !answer["errors"].is_array()) {
    // The page of a proxy is less useful than its status.
    said.text = body.starts_with('<') ? "" : shortened(body);
    return said;
  }
  std::size_t count = 0;
  for (const auto& finding : answer["errors"]) {
    if (!finding.is_object() || count++ == findings_shown) {
      break;
    }
    const std::string code = text(finding, "code");
    const std::string message = text(finding, "message");
    said.code = said.code ? said.code : non_empty(code);
    said.text += (said.text.empty() ? "" : "; ") + shortened(code) +
                 (code.empty() || message.empty() ? "" : ": ") + shortened(message);
  }
  return said;
}

bool is_google(const std::string& host) {
  return host.ends_with(".pkg.dev") || host == "gcr.io" || host.ends_with(".gcr.io");
}

bool holds(const std::string& text, std::string_view part) {
  return to_lower(text).find(part) != std::string::npos;
}

std::vector<std::string> artifact_hints(const ArtifactName& name,
                                        const Refusal& refusal,
                                        const Said& said) {
  const std::string where =
      fmt::format("{} --location={} --project={}", name.repository, name.location, name.project);
  if (holds(said.text, "missing image name") || name.repository.empty()) {
    return {fmt::format("the format is `{}/PROJECT/REPOSITORY/IMAGE`", refusal.host)};
  }
  if (said.code == "NAME_UNKNOWN") {
    return {"gcloud artifacts repositories create " + where + " --repository-format=docker"};
  }
  if (holds(said.text, "immutable")) {
    return {"the repository's tags are immutable: push with a new tag",
            "gcloud artifacts repositories update " + where + " --no-immutable-tags"};
  }
  if (holds(said.text, "unauthenticated")) {
    return {};
  }
  if (said.code == "DENIED") {
    const std::string role = holds(said.text, "upload") || refusal.method != "GET"
                                 ? "roles/artifactregistry.writer"
                                 : "roles/artifactregistry.reader";
    return {"gcloud artifacts repositories describe " + where,
            fmt::format("gcloud artifacts repositories add-iam-policy-binding {} "
                        "--member=user:ACCOUNT --role={}",
                        where, role)};
  }
  return {};
}

}  // namespace

std::optional<std::string> refusal_code(const std::string& body) {
  return read_body(body).code;
}

bool names_code(const std::string& body, std::string_view code) {
  const auto answer = parse_json(body);
  if (!answer.is_object() || !answer.contains("errors") || !answer["errors"].is_array()) {
    return false;
  }
  return std::any_of(answer["errors"].begin(), answer["errors"].end(), [&](const auto& finding) {
    return finding.is_object() && finding.contains("code") && finding["code"].is_string() &&
           finding["code"].template get_ref<const std::string&>() == code;
  });
}

std::string login_hint(const std::string& host, const std::optional<Credential>& login) {
  const std::string command = is_google(host)
                                  ? "gcloud auth configure-docker " + host
                                  : "docker login" + (host == "docker.io" ? "" : " " + host);
  if (!login) {
    return fmt::format("no login for `{}` was found: `{}`", host, command);
  }
  const std::string user =
      login->username.empty() ? "" : fmt::format(" (user `{}`)", printable(login->username));
  return fmt::format("the login came from {}{}; `{}` renews it", login->origin, user, command);
}

Refused refused(const Refusal& refusal) {
  const int status = refusal.response->status;
  const Said said = read_body(refusal.response->body);
  Refused error{status, said.code, non_empty(refusal.response->header("retry-after").value_or("")),
                "could not " + refusal.what};
  error.cause(fmt::format("{} {}: {}{}", refusal.method, redact_url(refusal.url), status,
                          said.text.empty() ? "" : " " + said.text));
  const auto artifact = parse_artifact_name(refusal.host, refusal.path);
  if (artifact) {
    for (auto& hint : artifact_hints(*artifact, refusal, said)) {
      error.hint(std::move(hint));
    }
  } else if (holds(said.text, "immutable")) {
    error.hint("the repository's tags are immutable: push with a new tag");
  }
  if (status == 401 || (status == 403 && (!artifact || holds(said.text, "unauthenticated")))) {
    error.hint(login_hint(refusal.host, refusal.login));
  }
  if (status == 429) {
    error.hint(refusal.login ? "the registry limits the rate of requests: try again later"
                             : login_hint(refusal.host, refusal.login));
  }
  return error;
}

}  // namespace autopack::registry
