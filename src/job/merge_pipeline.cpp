#include "base/json.hpp"
#include "base/text.hpp"
#include "job/merge.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace autopack::job {

using nlohmann::json;

namespace {

/// Lays the flags of a pipeline over the file's.
class PipelineMerge {
public:
  PipelineMerge(const PipelineFlags& flags, Draft& draft, Problems& problems)
      : flags_{flags}, draft_{draft}, problems_{problems} {}

  void run();
  void refuse();

private:
  /// A flag that is text, and where it goes.
  struct Text {
    const std::string* value;
    std::string_view flag;
    std::string_view path;
  };

  std::array<Text, 10> texts() const;
  void set(std::string_view path, std::string_view flag, json value);
  void ports();
  void lists();

  const PipelineFlags& flags_;
  Draft& draft_;
  Problems& problems_;
};

std::array<PipelineMerge::Text, 10> PipelineMerge::texts() const {
  return {{
      {&flags_.dataset_id, "--dataset-id", "inputDataConfig.datasetId"},
      {&flags_.model_id, "--model-id", "modelId"},
      {&flags_.parent_model, "--parent-model", "parentModel"},
      {&flags_.model_display_name, "--model-display-name", "modelToUpload.displayName"},
      {&flags_.model_description, "--model-description", "modelToUpload.description"},
      {&flags_.model_version_description, "--model-version-description",
       "modelToUpload.versionDescription"},
      {&flags_.model_artifact_uri, "--model-artifact-uri", "modelToUpload.artifactUri"},
      {&flags_.model_image_uri, "--model-image-uri", "modelToUpload.containerSpec.imageUri"},
      {&flags_.model_predict_route, "--model-predict-route",
       "modelToUpload.containerSpec.predictRoute"},
      {&flags_.model_health_route, "--model-health-route",
       "modelToUpload.containerSpec.healthRoute"},
  }};
}

void PipelineMerge::set(std::string_view path, std::string_view flag, json value) {
  json* target = draft_.body.get();
  for (const auto& key : split(path, '.')) {
    target = &(*target)[key];
  }
  *target = std::move(value);
  draft_.origins[std::string{path}] = fmt::format("`{}`", flag);
}

void PipelineMerge::refuse() {
  std::vector<std::string_view> given;
  for (const auto& text : texts()) {
    if (!text.value->empty()) {
      given.push_back(text.flag);
    }
  }
  const std::array<std::pair<bool, std::string_view>, 4> others{{
      {!flags_.model_ports.empty(), "--model-ports"},
      {!flags_.model_version_aliases.empty(), "--model-version-aliases"},
      {!flags_.model_env.empty(), "--model-env"},
      {!flags_.model_labels.empty(), "--model-labels"},
  }};
  for (const auto& [is_given, flag] : others) {
    if (is_given) {
      given.push_back(flag);
    }
  }
  for (const auto flag : given) {
    problems_.push_back({.message = fmt::format("`{}` is for a training pipeline", flag),
                         .origin = fmt::format("`{}`", flag),
                         .hints = {"--as=training-pipeline"}});
  }
}

void PipelineMerge::ports() {
  auto ports = json::array();
  for (const auto& text : flags_.model_ports) {
    std::int32_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size() || port < 1 || port > 65535) {
      problems_.push_back({.message = fmt::format("`{}` is no port", printable(text)),
                           .origin = "`--model-ports`"});
    }
    ports.push_back({{"containerPort", port}});
  }
  set("modelToUpload.containerSpec.ports", "--model-ports", std::move(ports));
}

void PipelineMerge::lists() {
  if (!flags_.model_ports.empty()) {
    ports();
  }
  if (!flags_.model_version_aliases.empty()) {
    set("modelToUpload.versionAliases", "--model-version-aliases", flags_.model_version_aliases);
  }
  if (!flags_.model_env.empty()) {
    auto env = json::array();
    for (const auto& [name, value] : flags_.model_env) {
      env.push_back({{"name", name}, {"value", value}});
    }
    set("modelToUpload.containerSpec.env", "--model-env", std::move(env));
  }
  for (const auto& [key, value] : flags_.model_labels) {
    (*draft_.body)["modelToUpload"]["labels"][key] = value;
    draft_.origins["modelToUpload.labels." + key] = "`--model-labels`";
  }
}

void PipelineMerge::run() {
  for (const auto& text : texts()) {
    if (!text.value->empty()) {
      set(text.path, text.flag, *text.value);
    }
  }
  lists();
}

}  // namespace

void merge_pipeline(const PipelineFlags& flags, Draft& draft, Problems& problems) {
  PipelineMerge merge{flags, draft, problems};
  is_pipeline(draft.kind) ? merge.run() : merge.refuse();
}

}  // namespace autopack::job
