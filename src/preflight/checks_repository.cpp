#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "preflight/checks.hpp"
#include "registry/artifact_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::preflight {

using nlohmann::json;

namespace {

constexpr auto upload = "artifactregistry.repositories.uploadArtifacts";
constexpr auto create = "artifactregistry.repositories.create";

constexpr std::array reader_roles{std::string_view{"roles/artifactregistry.reader"},
                                  std::string_view{"roles/artifactregistry.writer"},
                                  std::string_view{"roles/artifactregistry.repoAdmin"},
                                  std::string_view{"roles/artifactregistry.admin"},
                                  std::string_view{"roles/artifactregistry.serviceAgent"},
                                  std::string_view{"roles/aiplatform.customCodeServiceAgent"},
                                  std::string_view{"roles/viewer"},
                                  std::string_view{"roles/editor"},
                                  std::string_view{"roles/owner"}};

std::string flags_of(const registry::ArtifactName& name) {
  return fmt::format("{} --location={} --project={}", name.repository, name.location, name.project);
}

Problem no_repository(const registry::ArtifactName& name) {
  return failing(
      "repository", fmt::format("there is no repository `{}`", name.resource()),
      "Artifact Registry makes none by itself, so the push would fail",
      {"gcloud artifacts repositories create " + flags_of(name) + " --repository-format=docker"});
}

bool is_granted(const ApiAnswer& answer, const char* permission) {
  const auto granted = answer.body->value("permissions", json::array());
  return contains(granted, permission);
}

/// The repository of the default name is created before the push.
Problems check_missing(const registry::ArtifactName& name,
                       const PlannedJob& job,
                       const Sources& sources) {
  if (!job.packaged->is_default_name) {
    return {no_repository(name)};
  }
  const auto what = fmt::format("whether you may make the repository `{}`", name.resource());
  const auto answer =
      sources.apis->post(Service::cloudresourcemanager,
                         fmt::format("/v1/projects/{}:testIamPermissions", url_path(name.project)),
                         {{"permissions", json::array({create})}});
  if (!answer.ok()) {
    return {
        refusal_finding("repository", what, Service::cloudresourcemanager, answer, name.project)};
  }
  if (!is_granted(answer, create)) {
    return {failing(
        "repository",
        fmt::format("there is no repository `{}`, and you may not create it", name.resource()),
        fmt::format("the permission `{}` is missing", create),
        {fmt::format("gcloud projects add-iam-policy-binding {} --member=user:YOU "
                     "--role=roles/artifactregistry.admin",
                     name.project)})};
  }
  return {ok("repository", fmt::format("the repository `{}` will be made", name.resource()))};
}

Problems check_form(const json& repository,
                    const registry::ArtifactName& name,
                    const PlannedJob& job) {
  Problems findings;
  const auto format = text_at(repository, "format");
  const auto mode = text_at(repository, "mode");
  if (!format.empty() && format != "DOCKER") {
    findings.push_back(failing("repository",
                               fmt::format("repository `{}` contains `{}`, not images",
                                           name.resource(), printable(format)),
                               "it does not accept images",
                               {fmt::format("gcloud artifacts repositories create NAME "
                                            "--location={} --project={} --repository-format=docker",
                                            name.location, name.project)}));
  } else if (mode == "VIRTUAL_REPOSITORY" || mode == "REMOTE_REPOSITORY") {
    findings.push_back(failing(
        "repository", fmt::format("repository `{}` is a `{}`", name.resource(), printable(mode)),
        "only standard repositories accept a push",
        {"gcloud artifacts repositories list --project=" + name.project}));
  }
  const auto& region = job.region();
  const bool is_near = name.location == region || region.starts_with(name.location + "-");
  if (!is_near) {
    findings.push_back(
        warning("repository-location",
                fmt::format("the image goes to `{}`, the job runs in `{}`", name.location, region),
                "every replica would pull it from afar: slower, and paid for",
                {fmt::format("output-image-uri={}-docker.pkg.dev/{}/...", region,
                             replace_all(name.project, ":", "/"))}));
  }
  return findings;
}

Problems check_upload(const registry::ArtifactName& name, const Sources& sources) {
  const auto answer =
      sources.apis->post(Service::artifactregistry,
                         fmt::format("/v1/{}:testIamPermissions", url_path(name.resource())),
                         {{"permissions", json::array({upload})}});
  if (!answer.ok()) {
    return {refusal_finding("upload-permission",
                            fmt::format("whether you may push to `{}`", name.resource()),
                            Service::artifactregistry, answer, name.project)};
  }
  if (is_granted(answer, upload)) {
    return {ok("upload-permission", fmt::format("you may push to `{}`", name.resource()))};
  }
  return {failing("upload-permission", fmt::format("you may not push to `{}`", name.resource()),
                  fmt::format("the permission `{}` is missing", upload),
                  {"gcloud artifacts repositories add-iam-policy-binding " + flags_of(name) +
                   " --member=user:YOU --role=roles/artifactregistry.writer"})};
}

Problems check_tag(const json& repository,
                   const registry::ArtifactName& name,
                   const PlannedJob& job,
                   const Sources& sources) {
  const auto& target = job.packaged->target;
  const auto docker = repository.value("dockerConfig", json::object());
  const bool immutable = docker.is_object() && docker.value("immutableTags", json{}) == true;
  if (!immutable || !target.tag) {
    return {};
  }
  if (!sources.repository(target, registry::Access::pull)->head_manifest(*target.tag)) {
    return {ok("tag", fmt::format("tag `{}` is still free", *target.tag))};
  }
  return {
      failing("tag",
              fmt::format("tag `{}` exists, and repository `{}` has immutable tags", *target.tag,
                          name.resource()),
              "the push would fail at its end",
              {fmt::format("output-image-uri={} lets autopack choose a tag by content",
                           target.repository()),
               "gcloud artifacts repositories update " + flags_of(name) + " --no-immutable-tags"})};
}

}  // namespace

Problems check_repository(const PlannedJob& job, const Sources& sources) {
  const auto& target = job.packaged->target;
  const auto name = registry::parse_artifact_name(target.host, target.path);
  if (!name || !name->image) {
    return {};
  }
  const auto answer =
      sources.apis->get(Service::artifactregistry, "/v1/" + url_path(name->resource()));
  if (answer.status == 404) {
    return check_missing(*name, job, sources);
  }
  if (!answer.ok()) {
    return {refusal_finding("repository", fmt::format("repository `{}`", name->resource()),
                            Service::artifactregistry, answer, name->project)};
  }
  auto findings = check_form(*answer.body, *name, job);
  if (!has_errors(findings)) {
    findings.push_back(ok("repository", fmt::format("repository `{}` exists", name->resource())));
    for (auto more : {check_upload(*name, sources), check_tag(*answer.body, *name, job, sources)}) {
      std::ranges::move(more, std::back_inserter(findings));
    }
  }
  return findings;
}

Problems check_push(const PlannedJob& job, const Sources& sources) {
  const auto& target = job.packaged->target;
  const auto name = registry::parse_artifact_name(target.host, target.path);
  try {
    sources.repository(target, registry::Access::push)->check_access();
  } catch (const registry::Refused& refusal) {
    if (refusal.code() == "NAME_UNKNOWN" && name) {
      return job.packaged->is_default_name ? Problems{} : Problems{no_repository(*name)};
    }
    if (refusal.status() != 401 && refusal.status() != 403) {
      throw;
    }
    return {failing("registry-login",
                    fmt::format("`{}` does not accept a push with the current login", target.host),
                    refusal.causes().empty() ? refusal.message() : refusal.causes().front(),
                    refusal.hints())};
  }
  return {ok("registry-login", fmt::format("`{}` accepts a push", target.repository()))};
}

Problems check_image_reader(const image::Reference& image,
                            const PlannedJob& job,
                            const Sources& sources) {
  const auto name = registry::parse_artifact_name(image.host, image.path);
  const bool is_public =
      name && (name->project == "vertex-ai" || name->project == "vertex-ai-restricted" ||
               name->project.starts_with("deeplearning-platform"));
  if (!name || !name->image || is_public || name->project == job.project() ||
      name->project == sources.project->id()) {
    return {};
  }
  const auto agent = agent_member(sources.project->number());
  const auto what = fmt::format("whether the service agent may read `{}`", name->resource());
  auto answer = sources.apis->get(Service::artifactregistry,
                                  fmt::format("/v1/{}:getIamPolicy", url_path(name->resource())));
  if (!answer.ok()) {
    return {
        refusal_finding("image-reader", what, Service::artifactregistry, answer, name->project)};
  }
  auto grant = grant_of(*answer.body, agent, reader_roles);
  if (grant == Grant::no) {
    answer = sources.apis->post(
        Service::cloudresourcemanager,
        fmt::format("/v1/projects/{}:getIamPolicy", url_path(name->project)), json::object());
    if (!answer.ok()) {
      return {refusal_finding("image-reader", what, Service::cloudresourcemanager, answer,
                              name->project)};
    }
    grant = grant_of(*answer.body, agent, reader_roles);
  }
  if (grant == Grant::yes) {
    return {ok("image-reader", fmt::format("the service agent may read `{}`", name->resource()))};
  }
  if (grant == Grant::perhaps) {
    return {unknown("image-reader", what, "it depends on a custom role or a group")};
  }
  return {
      warning("image-reader",
              fmt::format("the service agent of project `{}` may not read `{}`", job.project(),
                          name->resource()),
              "the image is in another project; the agent pulls it, not the job's account",
              {fmt::format("gcloud artifacts repositories add-iam-policy-binding {} --member={} "
                           "--role=roles/artifactregistry.reader",
                           flags_of(*name), agent)})};
}

}  // namespace autopack::preflight
