#include "google/explanation.hpp"

#include <array>

namespace autopack::google {

namespace {

// Failures without a text from a service (a huge context, missing flags) are not here.
constexpr std::array table{
    KnownFailure{
        "exec format error", "",
        "the image is for another kind of processor; the machines of Vertex AI are linux/amd64",
        "build it for them: autopack submit --platform=linux/amd64"},
    KnownFailure{"Unauthenticated request", "", "no login was sent to the registry's host",
                 "log in to this very host: gcloud auth configure-docker HOST"},
    KnownFailure{"name unknown: Repository", "",
                 "the repository does not exist in Artifact Registry",
                 "make it: gcloud artifacts repositories create REPOSITORY "
                 "--repository-format=docker --location=LOCATION --project=OWNER"},
    KnownFailure{"NAME_UNKNOWN", "", "the repository does not exist in Artifact Registry",
                 "make it: gcloud artifacts repositories create REPOSITORY "
                 "--repository-format=docker --location=LOCATION --project=OWNER"},
    KnownFailure{"Missing image name", "", "the name stops at the repository",
                 "add the image's name: "
                 "output-image-uri=LOCATION-docker.pkg.dev/PROJECT/REPOSITORY/NAME"},
    KnownFailure{"artifactregistry.repositories.uploadArtifacts", "",
                 "the login may not write to the repository, or the repository does not exist",
                 "let it write: gcloud artifacts repositories add-iam-policy-binding REPOSITORY "
                 "--location=LOCATION --project=OWNER --member=user:YOU "
                 "--role=roles/artifactregistry.writer"},
    KnownFailure{"should be granted access to the image", "",
                 "the image is in a project whose images the service agent cannot read; the "
                 "job's own account does not pull it",
                 "let the service agent read it: gcloud artifacts repositories "
                 "add-iam-policy-binding REPOSITORY --location=LOCATION --project=OWNER "
                 "--member=serviceAccount:AGENT --role=roles/artifactregistry.reader"},
    KnownFailure{"The image", "does not exist",
                 "no image has this name: it was never pushed, or the name is misspelt",
                 "check it: docker buildx imagetools inspect IMAGE"},
    KnownFailure{"Failed to read the container uri", "",
                 "no image has this name: it was never pushed, or the name is misspelt",
                 "check it: docker buildx imagetools inspect IMAGE"},
    KnownFailure{"permission to act as service_account", "",
                 "you may not start jobs as this account, or it does not exist",
                 "allow it: gcloud iam service-accounts add-iam-policy-binding ACCOUNT "
                 "--member=user:YOU --role=roles/iam.serviceAccountUser"},
    KnownFailure{"quota metrics exceed", "", "the project has no such quota left in this region",
                 "see it: gcloud alpha services quota list --service=aiplatform.googleapis.com "
                 "--consumer=projects/PROJECT; another --region may have some"},
    KnownFailure{"is not supported for machine type", "",
                 "this machine type does not support this accelerator",
                 "see the pairs: gcloud compute accelerator-types list --project=PROJECT"},
    KnownFailure{"should be specified or none", "",
                 "a pool needs both the type and the count of its accelerator, or neither",
                 "give both: --worker-pool-spec=...,accelerator-type=NVIDIA_TESLA_T4,"
                 "accelerator-count=1"},
    KnownFailure{"Accelerators are not supported for this project", "",
                 "a free trial has no accelerators",
                 "ask for quota: gcloud beta quotas info list --service=aiplatform.googleapis.com "
                 "--project=PROJECT lists the quota"},
    KnownFailure{
        "executable file not found", "",
        "the container's command is not a program in the image (a Python module is not one either)",
        "name a program: --command=python3,-m,trainer.task"},
    KnownFailure{"StartError", "", "the container's command could not be started",
                 "try it here: docker run --rm IMAGE"},
    KnownFailure{"python: not found", "", "the image has no `python`",
                 "look: docker run --rm --entrypoint sh IMAGE -c 'command -v python3 python'"},
    KnownFailure{"status of 127", "", "the program to start is not in the image",
                 "look: docker run --rm --entrypoint sh IMAGE -c 'command -v python3 python'"},
    KnownFailure{"ModuleNotFoundError", "",
                 "the image lacks a Python module that the program imports",
                 "see the image's contents: autopack explain; then add the missing distribution "
                 "to requirements.txt"},
    KnownFailure{"shared memory", "",
                 "/dev/shm is too small for the data loader's worker processes",
                 "load in the main process (num_workers=0), or take a larger --worker-pool-spec "
                 "machine-type"},
    KnownFailure{"CONSUMER_INVALID", "", "there is no such project, or you cannot access it",
                 "see it: gcloud projects describe PROJECT"},
    KnownFailure{"ACCESS_TOKEN_SCOPE_INSUFFICIENT", "", "the token is for fewer services than this",
                 "log in again: gcloud auth application-default login; inside a job: "
                 "--service-account=ACCOUNT"},
    KnownFailure{"Unable to parse", "training_task_inputs",
                 "a field of the pipeline's task is unknown or of a wrong type",
                 "see the request: autopack submit --as=training-pipeline --dry-run"},
    KnownFailure{"base_output_directory", "", "the output directory must be an object, not text",
                 "write it as baseOutputDirectory: {outputUriPrefix: gs://BUCKET/DIRECTORY}"},
    KnownFailure{"Resources are insufficient", "", "the region has no such machines free now",
                 "wait for a place: --strategy=FLEX_START; or try another --region or accelerator"},
    KnownFailure{"Cannot connect to the Docker daemon", "", "no Docker Engine answers here",
                 "see it: docker version; or build without one: --engine=direct"},
    KnownFailure{"docker: not found", "", "docker is not installed here",
                 "build without it: --engine=direct"},
    KnownFailure{"logging.logEntries.create", "", "the job's account may not write logs",
                 "let it: gcloud projects add-iam-policy-binding PROJECT "
                 "--member=serviceAccount:ACCOUNT --role=roles/logging.logWriter"},
    KnownFailure{"logging.logEntries.list", "", "you may not read the project's logs",
                 "let yourself: gcloud projects add-iam-policy-binding PROJECT --member=user:YOU "
                 "--role=roles/logging.viewer"},
    KnownFailure{"storage.objects", "", "the job's account may not use the bucket",
                 "grant it: gcloud storage buckets add-iam-policy-binding gs://BUCKET "
                 "--member=serviceAccount:ACCOUNT --role=roles/storage.objectUser"},
    KnownFailure{"Machine type", "not supported", "Vertex AI does not offer this machine type",
                 "see the machine types: gcloud compute machine-types list --project=PROJECT"},
    KnownFailure{"space left on device", "", "image and data do not fit on the boot disk",
                 "use a larger one: --boot-disk-size=500"},
    KnownFailure{"invalid authentication credentials", "",
                 "the token has expired, or is for another service",
                 "log in again: gcloud auth application-default login"},
    KnownFailure{"UNAUTHENTICATED", "", "the service does not accept the token",
                 "log in again: gcloud auth application-default login"},
    KnownFailure{"immutable", "tag", "the repository's tags never move",
                 "use a new tag, or none: output-image-uri=IMAGE"},
    KnownFailure{"SERVICE_DISABLED", "logging.googleapis.com", "the project does not use the API",
                 "switch it on: gcloud services enable logging.googleapis.com --project=PROJECT"},
    KnownFailure{"SERVICE_DISABLED", "cloudbuild.googleapis.com",
                 "the project does not use the API",
                 "enable it: gcloud services enable cloudbuild.googleapis.com "
                 "--project=PROJECT"},
    KnownFailure{"SERVICE_DISABLED", "", "the project does not use the API",
                 "switch it on: gcloud services enable aiplatform.googleapis.com "
                 "--project=PROJECT"},
    KnownFailure{
        "proxyconnect", "", "the proxy could not be reached",
        "see what the engine uses: docker info --format '{{.HTTPSProxy}}'; autopack itself "
        "reads HTTPS_PROXY"},
    KnownFailure{"Unknown name", "", "the service does not know a field of the job",
                 "see the request: autopack submit --dry-run"},
    KnownFailure{"Cannot find field", "", "the service does not know a field of the job",
                 "see the request: autopack submit --dry-run"},
    KnownFailure{"ran out of memory", "",
                 "the machine has too little memory; the system of a small one uses part of it",
                 "use a larger machine: --worker-pool-spec=machine-type=n1-highmem-8,..."},
    KnownFailure{"non-zero status", "", "the program itself ended with an error",
                 "read its output: autopack jobs stream-logs JOB"},
    KnownFailure{"Internal error occurred", "", "the service failed, not the program",
                 "submit it again"},
    KnownFailure{"PERMISSION_DENIED", "", "the account may not do this in the project",
                 "jobs need roles/aiplatform.user: gcloud projects get-iam-policy PROJECT"},
};

}  // namespace

std::span<const KnownFailure> known_failures() {
  return table;
}

}  // namespace autopack::google
