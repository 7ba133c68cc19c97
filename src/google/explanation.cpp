#include "google/explanation.hpp"

#include "base/text.hpp"
#include "base/url.hpp"

#include <algorithm>
#include <regex>

namespace autopack::google {

namespace {

bool holds(std::string_view text, std::string_view fragment) {
  return text.find(fragment) != std::string_view::npos;
}

/// The first group of `pattern` in `text`; empty when it is not there.
std::string find(const std::string& text, const char* pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex{pattern}) ? match[1].str() : std::string{};
}

/// A placeholder of the table, and the value that the failure's text gives it.
struct Filling {
  const char* placeholder;
  std::string value;
};

std::vector<Filling> fillings(const std::string& text, const Place& place) {
  const auto image = find(text, R"(([\w.-]*(?:-docker\.pkg\.dev|gcr\.io)/[\w./@:-]*[\w]))");
  const auto parts = split(image, '/');
  const bool registry = parts.size() > 2 && parts[0].ends_with("-docker.pkg.dev");
  const auto resource = [&](const char* pattern, const std::string& of_image) {
    const auto named = find(text, pattern);
    return named.empty() ? of_image : named;
  };
  const auto host = image.empty() ? find(text, R"(([\w-]+-docker\.pkg\.dev))") : parts[0];
  return {
      {"LOCATION", resource("locations/([\\w-]+)/repositories",
                            registry ? parts[0].substr(0, parts[0].rfind("-docker")) : "")},
      {"REPOSITORY",
       resource("(?:repositories/|Repository [\"`'])([\\w-]+)", registry ? parts[2] : "")},
      {"OWNER", resource("projects/([\\w:.-]+)/locations/[\\w-]+/repositories",
                         registry ? parts[1] : place.project)},
      {"AGENT", find(text, R"(([\w.-]+@gcp-sa-[\w.-]+\w))")},
      {"ACCOUNT", find(text, R"(([\w.-]+@[\w.-]+gserviceaccount\.com))")},
      {"BUCKET", resource("gs://([\\w.-]+)", find(text, "buckets/([\\w.-]+)"))},
      {"HOST", host},
      {"IMAGE", image},
      {"PROJECT", place.project},
      {"REGION", place.region},
  };
}

}  // namespace

std::optional<Explanation> explain(std::string_view text, const Place& place) {
  const auto known = known_failures();
  const auto found = std::find_if(known.begin(), known.end(), [&](const KnownFailure& failure) {
    return holds(text, failure.fragment) && holds(text, failure.and_also);
  });
  if (found == known.end()) {
    return std::nullopt;
  }
  Explanation result{.why = std::string{found->why}, .command = std::string{found->command}};
  for (const auto& [placeholder, value] : fillings(std::string{text}, place)) {
    if (!value.empty()) {
      result.command = replace_all(result.command, placeholder, value);
    }
  }
  return result;
}

}  // namespace autopack::google
