#include "base/digest.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/ini.hpp"
#include "engine/docker.hpp"
#include "google/credentials.hpp"
#include "google/job_name.hpp"
#include "google/project.hpp"
#include "google/shell_words.hpp"
#include "plan/templates.hpp"
#include "project/requirements/pip_settings.hpp"
#include "registry/credentials.hpp"
#include "scratch.hpp"
#include "scripted_http.hpp"
#include "target.hpp"

/// What the settings, logins and programs of the person say.
namespace autopack::fuzz {

namespace {

namespace fs = std::filesystem;

/// pip.conf, byte 0, netrc.
void pip_settings(std::string_view bytes) {
  static const fs::path home = scratch();
  const fs::path conf = put(home / "pip.conf", next_part(bytes));
  put(home / ".netrc", bytes);
  const Environment environment{{{"HOME", home.string()}, {"PIP_CONFIG_FILE", conf.string()}}};
  const auto found = project::find_pip_settings(environment, {"example.com"}, {}, home / "etc");
  if (const auto file = found.files.find("pip.conf"); file != found.files.end()) {
    const auto ini = parse_ini(file->second.reveal());
    if (ini.size() != 1 || !ini.contains("global")) {
      fail("a value of pip.conf becomes a section");
    }
  }
}

/// config.json, byte 0, meta.json of a context.
void docker_config(std::string_view bytes) {
  static const fs::path home = scratch();
  put(home / "config.json", next_part(bytes));
  put(home / "contexts" / "meta" / sha256("team").hex() / "meta.json", bytes);
  const std::string directory = home.string();
  const Environment environment{{{"HOME", directory}, {"DOCKER_CONFIG", directory}}};
  for (const char* const host : {"docker.io", "registry.example.com/a/b", "example.com:5000/a"}) {
    try {
      registry::to_registry_auth(registry::make_docker_credentials(environment)(host), host);
    } catch (const Error&) {
      continue;
    }
  }
  const Environment team{
      {{"HOME", directory}, {"DOCKER_CONFIG", directory}, {"DOCKER_CONTEXT", "team"}}};
  for (const auto& each : {environment, team}) {
    try {
      engine::find_endpoint(each);
    } catch (const Error&) {
      continue;
    }
  }
}

void podman_auth(std::string_view bytes) {
  static const fs::path file = scratch() / "auth.json";
  put(file, bytes);
  const Environment environment{
      {{"HOME", file.parent_path().string()}, {"REGISTRY_AUTH_FILE", file.string()}}};
  const auto logins = registry::make_podman_credentials(environment);
  registry::to_registry_auth(logins("registry.example.com/a/b/c"), "registry.example.com");
}

/// The status, then what the helper prints on either stream, with a byte 0 between.
void helper_answer(std::string_view bytes) {
  static const fs::path home = scratch();
  static const fs::path program = [] {
    put(home / "docker-credential-fuzz",
        "#!/bin/sh\ncat '" + (home / "answer").string() + "'\ncat '" + (home / "errors").string() +
            "' >&2\nexit $(cat '" + (home / "status").string() + "')\n");
    fs::permissions(home / "docker-credential-fuzz", fs::perms::owner_all);
    return home / "docker-credential-fuzz";
  }();
  put(home / "status", std::to_string(next_byte(bytes) % 3));
  put(home / "answer", next_part(bytes));
  put(home / "errors", bytes);
  registry::without_secrets(bytes);
  const Environment environment{{{"PATH", program.parent_path().string() + ":/bin"}}};
  registry::ask_helper(environment, "fuzz", "example.com", "`config.json`", nullptr);
}

/// The name of the configuration, byte 0, its file; then names of jobs.
void gcloud_settings(std::string_view bytes) {
  static const fs::path home = scratch();
  put(home / "active_config", next_part(bytes));
  put(home / "configurations" / "config_default", bytes);
  put(home / "configurations" / "config_a", bytes);
  const Environment environment{
      {{"HOME", home.string()}, {"CLOUDSDK_CONFIG", home.string()}, {"PATH", ""}}};
  const auto configuration = google::read_gcloud_configuration(environment);
  google::find_project({}, environment, configuration, {});
  google::find_region({}, environment, configuration);
  google::find_property("core/account", environment, configuration);
  google::find_impersonation({}, environment, configuration);
  google::find_endpoint("aiplatform", environment, configuration);
  google::find_access_token_file({}, environment, configuration);
  if (const auto name = google::JobName::parse(bytes)) {
    const auto again = google::JobName::parse(name->text());
    if (!again || again->text() != name->text()) {
      fail("the name of a job does not come back");
    }
  }
  google::shell_words(bytes);
}

/// A file of credentials, byte 0, the answers of the servers it names. Programs are not allowed.
void google_credentials(std::string_view bytes) {
  static const fs::path home = scratch();
  const fs::path file = put(home / "adc.json", next_part(bytes));
  const Environment environment{
      {{"HOME", home.string()}, {"PATH", ""}, {"GOOGLE_APPLICATION_CREDENTIALS", file.string()}}};
  ScriptedHttp client{bytes};
  const auto source = google::find_credentials({.environment = &environment,
                                                .client = &client,
                                                .now = [] { return std::int64_t{1'800'000'000}; },
                                                .sleep = [](std::chrono::milliseconds) {}});
  source->describe();
  source->project();
  source->token();
  source->expire();
  source->token();
}

/// Answers of the metadata server of a machine.
void metadata_server(std::string_view bytes) {
  static const fs::path home = scratch() / "nothing";
  const Environment environment{{{"HOME", home.string()}, {"PATH", ""}}};
  ScriptedHttp client{bytes};
  const auto source = google::find_credentials({.environment = &environment,
                                                .client = &client,
                                                .now = [] { return std::int64_t{1'800'000'000}; },
                                                .sleep = [](std::chrono::milliseconds) {}});
  source->token();
  source->project();
}

void templates(std::string_view bytes) {
  plan::join_tag_lines(bytes);
  plan::check_template("Dockerfile.mustache", bytes, {"base", "copies", "user"});
}

}  // namespace

std::vector<Target> settings_targets() {
  return {{"pip_settings", pip_settings},       {"docker_config", docker_config},
          {"podman_auth", podman_auth},         {"helper_answer", helper_answer},
          {"gcloud_settings", gcloud_settings}, {"google_credentials", google_credentials},
          {"metadata_server", metadata_server}, {"templates", templates}};
}

}  // namespace autopack::fuzz
