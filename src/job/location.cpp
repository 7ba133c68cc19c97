#include "job/location.hpp"

#include "base/text.hpp"

namespace autopack::job {

std::string with_region(std::string_view image_name, std::string_view region) {
  constexpr std::string_view word{"REGION"};
  std::string result;
  for (std::size_t at = 0; at < image_name.size();) {
    const auto rest = image_name.substr(at);
    const bool begins = at == 0 || !is_alphanumeric(image_name.substr(at - 1, 1));
    const bool ends = rest.size() == word.size() ||
                      (rest.size() > word.size() && !is_alphanumeric(rest.substr(word.size(), 1)));
    if (rest.starts_with(word) && begins && ends) {
      result += region;
      at += word.size();
    } else {
      result += rest.front();
      ++at;
    }
  }
  return result;
}

bool names_region(std::string_view image_name) {
  return with_region(image_name, "region") != image_name;
}

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
