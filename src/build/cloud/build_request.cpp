#include "build/cloud/build_request.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <random>

namespace autopack::build {

using nlohmann::json;

namespace {

/// Google's image of docker's command line.
constexpr auto* cloud_docker = "gcr.io/cloud-builders/docker";

/// Returns `text` so that Cloud Build, which replaces `$PROJECT_ID` and the like, leaves it as it
/// is.
std::string without_substitutions(const std::string& text) {
  return replace_all(text, "$", "$$");
}

json arguments_of(const CloudRequest& request) {
  json arguments{"build", "--progress=plain", "--file=" + request.dockerfile,
                 "--tag=" + request.image};
  if (request.stage) {
    arguments.push_back("--target=" + *request.stage);
  }
  if (request.network) {
    arguments.push_back("--network=" + *request.network);
  }
  if (request.no_cache) {
    arguments.push_back("--no-cache");
  }
  for (const auto& [name, value] : request.labels) {
    arguments.push_back(fmt::format("--label={}={}", name, value));
  }
  arguments.push_back(".");
  for (auto& argument : arguments) {
    argument = without_substitutions(argument.get<std::string>());
  }
  return arguments;
}

}  // namespace

json to_json(const CloudRequest& request) {
  const auto seconds = [](std::chrono::seconds time) { return fmt::format("{}s", time.count()); };
  const auto& source = request.source;
  return {
      {"source",
       {{"storageSource",
         {{"bucket", source.bucket}, {"object", source.name}, {"generation", source.generation}}}}},
      {"steps", json::array({{{"name", cloud_docker},
                              {"env", {"DOCKER_BUILDKIT=1"}},
                              {"args", arguments_of(request)}}})},
      {"images", {request.image}},
      {"tags", {"autopack", request.tag}},
      {"logsBucket", fmt::format("gs://{}/{}", source.bucket, cloud_directory)},
      {"options", {{"logging", "GCS_ONLY"}, {"logStreamingOption", "STREAM_ON"}}},
      {"timeout", seconds(longest_cloud_build)},
      {"queueTtl", seconds(longest_cloud_queue)}};
}

std::string new_build_tag() {
  std::random_device random;
  return fmt::format("autopack-{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

google::StoredObject log_of(const google::StoredObject& source, const std::string& id) {
  return {.bucket = source.bucket, .name = fmt::format("{}/log-{}.txt", cloud_directory, id)};
}

}  // namespace autopack::build
