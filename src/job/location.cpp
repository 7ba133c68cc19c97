#include "job/location.hpp"

namespace autopack::job {

Problems missing_parts(const Location& location) {
  Problems problems;
  if (!location.project) {
    problems.push_back({.message = "no Google Cloud project is set",
                        .hints = {"`--project ID` or `gcloud config set project ID`"}});
  }
  if (!location.region) {
    problems.push_back(
        {.message = "no region is set",
         .hints = {"`--region us-central1` or `gcloud config set ai/region us-central1`"}});
  }
  return problems;
}

}  // namespace autopack::job
