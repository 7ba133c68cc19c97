#include "build/cloud/cloud_builder.hpp"

#include "base/elapsed.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "build/cloud/build_failure.hpp"
#include "build/cloud/build_request.hpp"
#include "build/cloud/build_run.hpp"
#include "build/cloud/sent_source.hpp"
#include "build/docker/dependencies.hpp"
#include "build/docker/docker_build.hpp"
#include "google/artifact_registry.hpp"
#include "google/cloud_build.hpp"
#include "image/file_reference.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

// Cloud Build takes the place of a docker engine: it gets the same files and the same Dockerfile,
// and pushes the image under the same tag, so that later runs find it there.

namespace autopack::build {

namespace {

using packaging::Freshness;
using packaging::MadeImage;
using packaging::Packaging;

/// Returns gcloud's bucket for the sources of builds.
std::string default_bucket(const std::string& project) {
  auto name = replace_all(project, ":", "_");
  name = replace_all(name, ".", "_");
  return replace_all(name, "google", "elgoog") + "_cloudbuild";
}

std::string read_bucket_name(const std::string& text) {
  constexpr std::string_view scheme{"gs://"};
  std::string name = text.starts_with(scheme) ? text.substr(scheme.size()) : text;
  while (name.ends_with('/')) {
    name.pop_back();
  }
  if (name.empty() || !is_alphanumeric(name, "-_.")) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` of `--staging-bucket` is not a bucket", printable(text)))
        .hint("`--staging-bucket=gs://my-bucket`");
  }
  return name;
}

/// `us`, `europe` and `asia` hold repositories, but no machines.
bool is_region(const std::string& location) {
  return location.find('-') != std::string::npos;
}

std::string pinned_base(const Packaging& work) {
  const auto& base = work.plan().base;
  return image::Reference::parse(base.reference).with_digest(base.digest.value());
}

Error login_in_source() {
  return Error(ErrorKind::environment,
               "the package index requires a login, which Cloud Build would get as a file in a "
               "bucket")
      .hint("build with a docker engine: `--builder=auto`")
      .hint(
          "an index in Artifact Registry, for which the build's service account has a role, needs "
          "no login in the project");
}

/// One build in Cloud Build, from the first question to the digest.
class CloudBuilding {
public:
  CloudBuilding(Services& services, const Packaging& work, BuildGoal goal)
      : services_{services},
        work_{work},
        goal_{std::move(goal)},
        place_{cloud_place(services, work.wanted())},
        options_{services.cloud_build()},
        service_{options_.service},
        builds_{service_, {place_.project, place_.region}, options_.endpoint_override},
        storage_{service_, options_.storage_override},
        tag_{new_build_tag()} {}

  Digest run() {
    const auto prepared = prepare_build(
        services_, work_, goal_,
        {.login_refusal = login_in_source(), .base = [this] { return pinned_base(work_); }});
    const PackedSource packed{services_, prepared.parts};
    check_place();
    make_repository_if_missing(services_, work_.name());
    const auto start = std::chrono::steady_clock::now();
    const SentSource source{storage_,
                            [this](const google::StoredObject& object) { remove(object); },
                            *services_.reporter,
                            packed,
                            {.bucket = place_.bucket, .name = packed.object_name(tag_)}};
    const PlannedContext context{prepared.parts};
    const auto body = to_json(CloudRequest{.source = source.object(),
                                           .dockerfile = context.dockerfile_path(),
                                           .image = goal_.tag,
                                           .stage = goal_.stage,
                                           .labels = prepared.labels,
                                           .network = work_.request().build_network,
                                           .no_cache = prepared.no_cache,
                                           .tag = tag_});
    CloudLog log{*services_.reporter,
                 [&](std::string_view step) { return context.step_name(step); }};
    const auto build = run_build({.builds = &builds_,
                                  .storage = &storage_,
                                  .body = std::make_shared<const nlohmann::json>(body),
                                  .tag = tag_,
                                  .source = source.object(),
                                  .uninterrupted = options_.uninterrupted,
                                  .reporter = services_.reporter},
                                 log);
    if (text_at(*build, "status") != "SUCCESS") {
      throw cloud_build_error({.build = build.get(),
                               .log = &log,
                               .parts = &prepared.parts,
                               .place = builds_.place(),
                               .bucket = place_.bucket,
                               .image = goal_.tag});
    }
    auto digest = digest_of(*build);
    services_.reporter->done(
        "Built", fmt::format("{}{} in {}, in Cloud Build", goal_.stage ? "dependencies " : "",
                             digest.str(), elapsed_text(std::chrono::steady_clock::now() - start)));
    return digest;
  }

private:
  /// Asks everything that could be refused, before anything is sent.
  void check_place() {
    service_.fetch_token();
    if (place_.is_default_bucket && !is_own_bucket()) {
      throw no_bucket();
    }
    const auto missing = storage_.missing_permissions(
        place_.bucket, {"storage.objects.create", "storage.objects.get", "storage.objects.delete"});
    if (!missing) {
      throw no_bucket();
    }
    if (!missing->empty()) {
      throw Error(ErrorKind::remote,
                  fmt::format("you may not use `gs://{}` for the source of a build", place_.bucket))
          .cause("missing: " + join(*missing, ", "))
          .hint(fmt::format("gcloud storage buckets add-iam-policy-binding gs://{} "
                            "--member=user:YOU --role=roles/storage.objectUser",
                            place_.bucket))
          .hint("`--staging-bucket=gs://BUCKET` names another bucket");
    }
    builds_.list(tag_, [](const google::Build&) { return false; });
  }

  bool is_own_bucket() const {
    try {
      return storage_.is_in_project(place_.bucket, place_.project);
    } catch (Error& error) {
      error.hint("`--staging-bucket=gs://BUCKET` names the bucket; then none is looked for");
      throw;
    }
  }

  Error no_bucket() const {
    Error error{ErrorKind::remote,
                place_.is_default_bucket
                    ? fmt::format("project `{}` has no bucket `gs://{}` for the source of a build",
                                  place_.project, place_.bucket)
                    : fmt::format("there is no bucket `gs://{}`", place_.bucket)};
    return error
        .hint(fmt::format("create it: gcloud storage buckets create gs://{} --project={}{}",
                          place_.bucket, shell_quote(place_.project),
                          is_region(place_.region) ? " --location=" + place_.region : ""))
        .hint("`--staging-bucket=gs://BUCKET` names another bucket");
  }

  void remove(const google::StoredObject& object) {
    auto service = service_.over(options_.uninterrupted());
    storage_.over(service).remove(object);
  }

  /// Returns the digest of the pushed image, which the registry must know.
  Digest digest_of(const nlohmann::json& build) {
    std::optional<Digest> digest;
    const auto& results = google::object_in(build, "results");
    for (const auto& image : google::list_in(results, "images")) {
      if (text_at(image, "name") == goal_.tag) {
        digest = Digest::parse(text_at(image, "digest"));
      }
    }
    if (!digest) {
      throw Error(ErrorKind::remote, "Cloud Build does not report the digest of the image")
          .cause(fmt::format("build `{}` ended with SUCCESS, without a result for `{}`",
                             text_at(build, "id"), printable(goal_.tag)));
    }
    const auto repository =
        open_repository(services_, work_.name().reference, registry::Access::pull);
    if (!repository->head_manifest(digest->str())) {
      throw Error(ErrorKind::remote,
                  fmt::format("the registry does not have the image `{}@{}` that Cloud Build "
                              "reports",
                              work_.name().reference.repository(), digest->str()));
    }
    return *digest;
  }

  Services& services_;
  const Packaging& work_;
  BuildGoal goal_;
  CloudPlace place_;
  google::CloudBuildOptions options_;
  google::Service service_;
  google::Builds builds_;
  google::Storage storage_;
  std::string tag_;
};

Digest build_in_cloud(Services& services, const Packaging& work, BuildGoal goal) {
  auto obstacle = obstacle_to_cloud(services, work.wanted());
  if (!obstacle && !work.plan().user_dockerfile && !work.plan().base.digest) {
    obstacle = fmt::format("only this machine has the executor image `{}`",
                           printable(work.plan().base.reference));
  }
  if (obstacle) {
    throw Error(ErrorKind::usage, "`--builder=cloud-build` cannot make this image")
        .cause(*obstacle)
        .hint("`--builder=auto` builds with the docker engine");
  }
  return CloudBuilding{services, work, std::move(goal)}.run();
}

class CloudBuilder : public packaging::Builder {
public:
  explicit CloudBuilder(Services& services) : services_{services} {}

  MadeImage make(const Packaging& work) override {
    MadeImage made{.image = work.named_image()};
    made.image.engine = "cloud-build";
    made.in_registry = true;
    auto& image = made.image;
    if ((image.digest = pushed_before(work))) {
      image.outcome = reused_image(work);
      image.dependencies = reused_dependencies(work);
      return made;
    }
    image.outcome = expected_image(work);
    image.dependencies = expected_dependencies(work);
    services_.reporter->done("Planned", planned_text(image));
    image.digest = build_in_cloud(
        services_, work,
        {.tag = work.keyed_name().tagged(),
         .freshness = work.request().no_cache ? Freshness::anew : Freshness::cached});
    return made;
  }

private:
  /// Returns the image that the registry has for the same key, unless it is too old.
  std::optional<Digest> pushed_before(const Packaging& work) {
    if (work.request().no_cache || !work.key_is_whole()) {
      return std::nullopt;
    }
    const auto repository =
        open_repository(services_, work.name().reference, registry::Access::pull);
    const auto found = repository->head_manifest(work.key_tag());
    if (!found) {
      return std::nullopt;
    }
    if (const auto limit = work.age_limit(); limit.applies()) {
      const auto times = run_times(services_, *repository, found->digest, work.plan().platform);
      if (limit.is_past(times, false, std::time(nullptr))) {
        return std::nullopt;
      }
    }
    return found->digest;
  }

  Services& services_;
};

}  // namespace

CloudPlace cloud_place(Services& services, const packaging::Wanted& wanted) {
  const auto options = services.cloud_build();
  const auto repository = google::repository_of(wanted.name.reference);
  CloudPlace place;
  if (options.project) {
    place.project = *options.project;
  } else if (repository) {
    place.project = repository->project;
  } else {
    throw Error(ErrorKind::usage, "`--builder=cloud-build` needs a project")
        .hint("`--project=ID` or `gcloud config set project ID`");
  }
  if (options.region) {
    place.region = *options.region;
  } else {
    place.region = repository && is_region(repository->location) ? repository->location : "global";
  }
  const auto& bucket = wanted.request.staging_bucket;
  place.is_default_bucket = !bucket;
  place.bucket = bucket ? read_bucket_name(*bucket) : default_bucket(place.project);
  return place;
}

std::optional<std::string> obstacle_to_cloud(Services& services, const packaging::Wanted& wanted) {
  if (!wanted.is_pushed()) {
    return "Cloud Build pushes the image to a registry, and none is named";
  }
  const auto& target = wanted.name.reference;
  if (!google::is_google_registry(target.host) &&
      !(target.is_loopback() && services.cloud_build().endpoint_override)) {
    return fmt::format(
        "Cloud Build has no login for the registry `{}`: it pushes to Artifact "
        "Registry",
        printable(target.host));
  }
  const auto& platform = wanted.request.options.platform;
  if (platform != cloud_platform) {
    return fmt::format("the machines of Cloud Build are `{}`, not `{}`", cloud_platform,
                       printable(platform));
  }
  const auto& base = wanted.request.executor_image;
  if (!wanted.request.project.dockerfile && image::names_files(base)) {
    return fmt::format("the executor image `{}` is in files of this machine", printable(base));
  }
  return std::nullopt;
}

std::size_t files_to_send(const Packaging& work) {
  return static_cast<std::size_t>(std::ranges::count_if(
      plan::context(work.plan()),
      [](const auto* entry) { return entry->type == source::EntryType::file; }));
}

Digest build_dependencies_in_cloud(Services& services, const Packaging& work, Freshness freshness) {
  return build_in_cloud(services, work,
                        {.tag = work.dependency_name(),
                         .stage = dependency_stage(work.plan().dependencies),
                         .freshness = freshness});
}

std::unique_ptr<packaging::Builder> make_cloud_builder(Services& services) {
  return std::make_unique<CloudBuilder>(services);
}

}  // namespace autopack::build
