#include "submit/vertex_hints.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace autopack::submit {

namespace {

/// A remedy for answers that hold `fragment` in their status, reason or message. PROJECT
/// stands for the job's.
struct Remedy {
  std::string_view fragment;
  std::string_view hint;
};

constexpr std::array remedies{
    Remedy{"should be granted access to the image",
           "let the service agent (not the job's account) read the image: gcloud artifacts "
           "repositories add-iam-policy-binding REPOSITORY --location=LOCATION "
           "--member=serviceAccount:AGENT --role=roles/artifactregistry.reader"},
    Remedy{"Failed to read the container uri",
           "is the image there? docker buildx imagetools inspect IMAGE"},
    Remedy{"does not exist", "check the names of image, region and project"},
    Remedy{
        "permission to act as service_account",
        "let yourself use the account: gcloud iam service-accounts add-iam-policy-binding ACCOUNT "
        "--member=user:YOU --role=roles/iam.serviceAccountUser"},
    Remedy{"quota metrics exceed",
           "see the quota: gcloud alpha services quota list --service=aiplatform.googleapis.com "
           "--consumer=projects/PROJECT; another --region may have some"},
    Remedy{"Resources are insufficient",
           "try another --region or accelerator, or wait for a place: --strategy=FLEX_START"},
    Remedy{"is not supported for machine type",
           "see which accelerators a machine takes: gcloud compute accelerator-types list"},
    Remedy{"Accelerators are not supported for this project",
           "a free trial has no accelerators; ask for quota in the Google Cloud console"},
    Remedy{"Machine type", "see the machine types: gcloud compute machine-types list"},
    Remedy{"SERVICE_DISABLED",
           "switch the API on: gcloud services enable aiplatform.googleapis.com --project=PROJECT"},
    Remedy{"CONSUMER_INVALID", "is the project's id right? gcloud projects describe PROJECT"},
    Remedy{"ACCESS_TOKEN_SCOPE_INSUFFICIENT",
           "log in with the cloud-platform scope: gcloud auth application-default login"},
    Remedy{"UNAUTHENTICATED", "log in again: gcloud auth application-default login"},
    Remedy{"storage.objects.get",
           "let the job's account read the bucket: gcloud storage buckets add-iam-policy-binding "
           "gs://BUCKET --member=serviceAccount:ACCOUNT --role=roles/storage.objectViewer"},
    Remedy{"PERMISSION_DENIED",
           "creating jobs needs roles/aiplatform.user: gcloud projects get-iam-policy PROJECT"},
};

}  // namespace

std::vector<std::string> vertex_hints(const google::ApiError& error,
                                      const job::Location& location) {
  const auto text = error.status + " " + error.reason + " " + error.message;
  const auto* const found = std::find_if(
      remedies.begin(), remedies.end(),
      [&](const Remedy& remedy) { return text.find(remedy.fragment) != std::string::npos; });
  std::vector<std::string> hints;
  if (found != remedies.end()) {
    hints.push_back(replace_all(std::string{found->hint}, "PROJECT", location.project));
  }
  if (!error.link.empty()) {
    hints.push_back(error.link);
  }
  return hints;
}

}  // namespace autopack::submit
