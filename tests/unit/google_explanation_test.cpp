#include "google/explanation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace autopack::google_explanation_test {

using autopack::google::explain;
using autopack::google::known_failures;

namespace {

struct Case {
  const char* text{};
  const char* why{};      ///< part of it
  const char* command{};  ///< part of it
};

}  // namespace

TEST_CASE("every text that services fail with is explained") {
  // Failures without a text of a service are not here.
  for (const auto& item : {
           Case{"standard_init_linux.go: exec user process caused: exec format error",
                "linux/amd64", "--platform=linux/amd64"},
           Case{"denied: Unauthenticated request. Unauthenticated requests do not have permission "
                "\"artifactregistry.repositories.uploadArtifacts\" on resource "
                "\"projects/p/locations/europe-west1/repositories/r\" at "
                "europe-west1-docker.pkg.dev",
                "no login", "gcloud auth configure-docker europe-west1-docker.pkg.dev"},
           Case{"name unknown: Repository \"team\" not found", "does not exist",
                "gcloud artifacts repositories create team --repository-format=docker"},
           Case{"denied: Missing image name. Pushes should be of the form docker push x",
                "stops at the repository", "output-image-uri="},
           Case{"denied: Permission \"artifactregistry.repositories.uploadArtifacts\" denied on "
                "resource \"projects/own/locations/us/repositories/team\" (or it may not exist)",
                "may not write",
                "add-iam-policy-binding team --location=us --project=own --member=user:YOU "
                "--role=roles/artifactregistry.writer"},
           Case{"Vertex AI Service Agent service-12@gcp-sa-aiplatform-cc.iam.gserviceaccount.com "
                "should be granted access to the image us-docker.pkg.dev/other/team/train:v1.",
                "service agent",
                "add-iam-policy-binding team --location=us --project=other "
                "--member=serviceAccount:service-12@gcp-sa-aiplatform-cc.iam.gserviceaccount.com "
                "--role=roles/artifactregistry.reader"},
           Case{"The image gcr.io/p/i:v1 does not exist.", "never pushed",
                "docker buildx imagetools inspect gcr.io/p/i:v1"},
           Case{"Failed to read the container uri [us-docker.pkg.dev/p/r/i]. Please make sure that "
                "the image exists",
                "never pushed", "inspect us-docker.pkg.dev/p/r/i"},
           Case{"You do not have permission to act as service_account: "
                "a@p.iam.gserviceaccount.com. (or it may not exist)",
                "start jobs as this account",
                "add-iam-policy-binding a@p.iam.gserviceaccount.com --member=user:YOU"},
           Case{"The following quota metrics exceed quota limits: aiplatform.googleapis.com/x",
                "quota", "--consumer=projects/mine"},
           Case{"Accelerator \"NVIDIA_TESLA_K80\" is not supported for machine type "
                "\"n1-standard-4\"",
                "does not support this accelerator", "accelerator-types list --project=mine"},
           Case{"Both `accelerator_type` and `accelerator_count` should be specified or none.",
                "the type and the count", "accelerator-count=1"},
           Case{"Accelerators are not supported for this project.", "free trial", "gcloud"},
           Case{"StartError: failed to create containerd task: exec: \"trainer.task\": executable "
                "file not found in $PATH",
                "not a program in the image", "--command=python3,-m,trainer.task"},
           Case{"/bin/sh: 1: python: not found", "no `python`", "command -v python3"},
           Case{"The replica workerpool0-0 exited with a non-zero status of 127.",
                "program to start", "command -v python3"},
           Case{"ModuleNotFoundError: No module named 'torch'", "lacks a Python module",
                "autopack explain"},
           Case{"RuntimeError: DataLoader worker is killed by signal: Bus error. It is possible "
                "that dataloader's workers are out of shared memory (insufficient shared memory "
                "(shm))",
                "/dev/shm", "num_workers=0"},
           Case{"PERMISSION_DENIED CONSUMER_INVALID Project 'My Project' not found",
                "no such project", "gcloud projects describe mine"},
           Case{"PERMISSION_DENIED ACCESS_TOKEN_SCOPE_INSUFFICIENT Request had insufficient "
                "authentication scopes.",
                "fewer services", "--service-account"},
           Case{"Unable to parse `training_pipeline.training_task_inputs` into custom task "
                "`inputs` defined in the file",
                "unknown or of a wrong type", "--dry-run"},
           Case{"Invalid value at 'custom_job.job_spec.base_output_directory'", "not text",
                "outputUriPrefix"},
           Case{"Resources are insufficient in region: us-central1. Try a different region",
                "no such machines free", "--strategy=FLEX_START"},
           Case{"sh: docker: not found", "not installed", "--engine=direct"},
           Case{"Cannot connect to the Docker daemon at unix:///var/run/docker.sock",
                "no Docker Engine", "docker version"},
           Case{"Permission 'logging.logEntries.create' denied on resource", "may not write logs",
                "roles/logging.logWriter"},
           Case{"a@p.iam.gserviceaccount.com does not have storage.objects.get access to "
                "gs://data/x",
                "bucket", "gs://data --member=serviceAccount:a@p.iam.gserviceaccount.com"},
           Case{"Machine type \"c3-standard-4\" is not supported.", "does not offer",
                "machine-types list"},
           Case{"OSError: [Errno 28] No space left on device", "boot disk", "--boot-disk-size"},
           Case{"UNAUTHENTICATED Request had invalid authentication credentials.", "has expired",
                "gcloud auth application-default login"},
           Case{"manifest invalid: cannot update tag v1. The repository has enabled tag "
                "immutability: immutable tags",
                "never move", "use a new tag"},
           Case{"PERMISSION_DENIED SERVICE_DISABLED Vertex AI API has not been used", "use the API",
                "enable aiplatform.googleapis.com --project=mine"},
           Case{"SERVICE_DISABLED logging.googleapis.com has not been used", "use the API",
                "enable logging.googleapis.com"},
           Case{"proxyconnect tcp: dial tcp: connection refused", "proxy", "HTTPS_PROXY"},
           Case{"Invalid JSON payload received. Unknown name \"worker_pool_spec\"",
                "does not know a field", "--dry-run"},
           Case{"The replica workerpool0-0 ran out of memory and exited with a non-zero status of "
                "137.",
                "memory", "n1-highmem-8"},
           Case{"The replica workerpool0-0 exited with a non-zero status of 1. Termination "
                "reason: Error.",
                "program itself", "autopack jobs stream-logs"},
           Case{"Internal error occurred for the current attempt.", "the service failed",
                "submit it again"},
           Case{"PERMISSION_DENIED Permission denied", "may not do this", "roles/aiplatform.user"},
       }) {
    const std::string text = item.text;
    CAPTURE(text);
    const auto found = explain(text, {.project = "mine", .region = "r"});
    REQUIRE(found);
    CAPTURE(found->why);
    CAPTURE(found->command);
    CHECK(found->why.find(item.why) != std::string::npos);
    CHECK(found->command.find(item.command) != std::string::npos);
  }
}

TEST_CASE("no known failure is hidden behind an earlier one") {
  for (const auto& failure : known_failures()) {
    const auto text = std::string{failure.fragment} + " " + std::string{failure.and_also};
    CAPTURE(text);
    REQUIRE(explain(text));
    CHECK(explain(text)->why == failure.why);
  }
}

TEST_CASE("unknown failures are not explained") {
  CHECK_FALSE(explain(""));
  CHECK_FALSE(explain("something else went wrong"));
  // An invalid name does not get into a command.
  const auto found = explain("Failed to read the container uri [$(rm -rf /)]");
  REQUIRE(found);
  CHECK(found->command == "check it: docker buildx imagetools inspect IMAGE");
}

TEST_CASE("a text may be as long as it likes") {
  const std::string filler(100'000, 'a');
  const auto found = explain(filler + "@" + filler + " Failed to read the container uri [" +
                             filler + "gcr.io/p/i:v1] projects/" + filler);
  REQUIRE(found);
  CHECK(found->command.ends_with("gcr.io/p/i:v1"));
}

}  // namespace autopack::google_explanation_test
