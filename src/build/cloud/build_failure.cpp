#include "build/cloud/build_failure.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "build/cloud/build_request.hpp"
#include "build/docker/build_error.hpp"
#include "google/artifact_registry.hpp"
#include "image/reference.hpp"

#include <fmt/format.h>

namespace autopack::build {

namespace {

using nlohmann::json;

std::string failure_type(const json& build) {
  return text_at(google::object_in(build, "failureInfo"), "type");
}

std::string grant_on_bucket(const FailedBuild& failed, const std::string& account) {
  return fmt::format(
      "grant it: gcloud storage buckets add-iam-policy-binding gs://{} --member=serviceAccount:{} "
      "--role=roles/storage.objectUser",
      failed.bucket, account);
}

std::string grant_on_repository(const FailedBuild& failed, const std::string& account) {
  const auto name = google::repository_of(image::Reference::parse(failed.image));
  if (!name) {
    return fmt::format("let `{}` push to `{}`: roles/artifactregistry.writer", account,
                       printable(failed.image));
  }
  return fmt::format(
      "grant it: gcloud artifacts repositories add-iam-policy-binding {} --location={} "
      "--project={} "
      "--member=serviceAccount:{} --role=roles/artifactregistry.writer",
      shell_quote(name->repository), shell_quote(name->location), shell_quote(name->project),
      account);
}

/// Returns the error for a status or a kind of failure that is not a failed step.
Error error_of_status(const FailedBuild& failed) {
  const auto& build = *failed.build;
  const auto status = text_at(build, "status");
  const auto account = builder_account(build);
  if (status == "TIMEOUT") {
    return Error(ErrorKind::remote,
                 fmt::format("the build in Cloud Build took longer than {} hours",
                             longest_cloud_build.count()))
        .hint("build the image with a docker engine: `--builder=auto`");
  }
  if (status == "EXPIRED") {
    return Error(ErrorKind::remote,
                 fmt::format("Cloud Build had no machine for the build for {} hour",
                             longest_cloud_queue.count()))
        .hint(fmt::format("see what else it builds: gcloud builds list --ongoing --project={} "
                          "--region={}",
                          shell_quote(failed.place.project), shell_quote(failed.place.region)));
  }
  if (status == "CANCELLED") {
    return {ErrorKind::remote, "somebody else cancelled the build in Cloud Build"};
  }
  if (status == "INTERNAL_ERROR") {
    return Error(ErrorKind::remote, "Cloud Build itself failed").hint("try again");
  }
  const auto type = failure_type(build);
  if (type.starts_with("PUSH_")) {
    return Error(ErrorKind::remote,
                 fmt::format("Cloud Build built the image, but could not push `{}`",
                             printable(failed.image)))
        .cause(fmt::format("`{}` pushes it", account))
        .hint(grant_on_repository(failed, account));
  }
  if (type == "FETCH_SOURCE_FAILED") {
    return Error(ErrorKind::remote,
                 fmt::format("Cloud Build could not read the source in `gs://{}`", failed.bucket))
        .cause(fmt::format("`{}` reads it", account))
        .hint(grant_on_bucket(failed, account));
  }
  if (type == "LOGGING_FAILURE") {
    return Error(ErrorKind::remote,
                 fmt::format("Cloud Build could not write its log to `gs://{}`", failed.bucket))
        .cause(fmt::format("`{}` writes it", account))
        .hint(grant_on_bucket(failed, account));
  }
  return {ErrorKind::project,
          status == "FAILURE"
              ? "the image build failed in Cloud Build"
              : fmt::format("the build in Cloud Build ended with `{}`", printable(status))};
}

}  // namespace

std::string builder_account(const json& build) {
  const auto name = text_at(build, "serviceAccount");
  const auto account = printable(name.substr(name.rfind('/') + 1));
  return account.empty() ? "PROJECT_NUMBER-compute@developer.gserviceaccount.com" : account;
}

Error cloud_build_error(const FailedBuild& failed) {
  const auto& build = *failed.build;
  const auto type = failure_type(build);
  const bool is_step = text_at(build, "status") == "FAILURE" &&
                       (type.empty() || type == "USER_BUILD_STEP") && failed.log->failure();
  auto error =
      is_step ? build_error(*failed.log->failure(), *failed.parts) : error_of_status(failed);
  const auto& info = google::object_in(build, "failureInfo");
  for (const auto& detail : {text_at(build, "statusDetail"), text_at(info, "detail")}) {
    if (!is_step && !detail.empty()) {
      error.cause(printable(redact_credentials(detail)));
    }
  }
  if (const auto lines = failed.log->last_lines(); !is_step && !lines.empty()) {
    std::string shown;
    for (const auto& line : split(redact_credentials(lines), '\n')) {
      shown += "\n" + printable(line);
    }
    error.cause(std::string{engine::last_output_cause} + shown);
  }
  const auto page = google::build_page(build);
  error.hint(fmt::format("its log: gcloud builds log {} --project={} --region={}",
                         printable(text_at(build, "id")), shell_quote(failed.place.project),
                         shell_quote(failed.place.region)));
  if (!page.empty()) {
    error.hint(page);
  }
  return error;
}

}  // namespace autopack::build
