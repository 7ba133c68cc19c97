#include "base/json.hpp"
#include "base/text.hpp"
#include "job/resource_names.hpp"
#include "job/rules.hpp"

#include <fmt/format.h>

#include <cmath>

namespace autopack::job {

using nlohmann::json;

namespace {

constexpr double tolerance = 1e-6;  // of the sum of fractions

void check_names(const json& body, const Location& location, Findings& findings) {
  constexpr auto* model_form = "projects/PROJECT/locations/REGION/models/ID";
  const auto id = text_of(body, "modelId");
  if (!id.empty() && !is_model_id(id)) {
    findings.error("modelId",
                   fmt::format("`{}` is no model id: lower-case letters, digits, `_` and `-`, no "
                               "digit or `-` first, at most 63",
                               printable(id)));
  }
  const auto parent = text_of(body, "parentModel");
  if (parent.empty()) {
    return;
  }
  const auto match = match_name(parent, model_form);
  if (!match) {
    findings.error("parentModel", fmt::format("`{}` is no name of a model: `{}` is wanted",
                                              printable(parent), model_form));
  } else if (!location.region.empty() && match->region != location.region) {
    findings.error("parentModel", fmt::format("`parentModel` is in `{}`, but the job is in `{}`",
                                              match->region, location.region));
  }
}

void check_model(const json& body, Findings& findings) {
  if (!body.contains("modelToUpload")) {
    for (const auto* key : {"modelId", "parentModel"}) {
      if (body.contains(key)) {
        findings.error(key, fmt::format("`{}` is given, but no model to upload", key),
                       {"--model-display-name=NAME --model-image-uri=IMAGE"});
      }
    }
    return;
  }
  const auto& model = body["modelToUpload"];
  if (text_of(model, "displayName").empty() && !findings.was_given("modelToUpload.displayName")) {
    findings.error("modelToUpload", "the model to upload has no name",
                   {"--model-display-name=NAME"});
  }
  const auto container = model.value("containerSpec", json::object());
  if (text_of(container, "imageUri").empty() &&
      !findings.was_given("modelToUpload.containerSpec.imageUri")) {
    findings.error("modelToUpload", "the model to upload has no image that serves it",
                   {"--model-image-uri=us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-0"});
  }
  const auto spec = body.value("jobSpec", json::object());
  if (!model.contains("artifactUri") && !spec.contains("baseOutputDirectory")) {
    findings.warning("modelToUpload",
                     "the model is taken from AIP_MODEL_DIR, which only a base output directory "
                     "gives: --base-output-dir=gs://BUCKET/PATH");
  }
}

/// Fractions of a split are parts of one whole.
void check_split(const json& data, const char* key, Findings& findings) {
  if (!data.contains(key)) {
    return;
  }
  const auto path = fmt::format("inputDataConfig.{}", key);
  double sum = 0;
  for (const auto* part : {"trainingFraction", "validationFraction", "testFraction"}) {
    const auto fraction = data[key].value(part, 0.0);
    sum += fraction;
    if (fraction < 0 || fraction > 1) {
      findings.error(path, fmt::format("{} is {}, no fraction",
                                       shown_path(fmt::format("{}.{}", path, part)), fraction));
    }
  }
  if (sum > 1 + tolerance) {
    findings.error(path, fmt::format("the fractions of {} are {} together; 1 is the whole",
                                     shown_path(path), sum));
  }
}

void check_data(const json& body, Findings& findings) {
  if (!body.contains("inputDataConfig")) {
    return;
  }
  const auto& data = body["inputDataConfig"];
  for (const auto* key : {"fractionSplit", "stratifiedSplit", "timestampSplit"}) {
    check_split(data, key, findings);
  }
  if (data.contains("savedQueryId") && data.contains("annotationSchemaUri")) {
    findings.error("inputDataConfig.savedQueryId",
                   "`savedQueryId` and `annotationSchemaUri` exclude each other");
  }
  if (!data.contains("gcsDestination") && !data.contains("bigqueryDestination")) {
    findings.warning("inputDataConfig",
                     "`inputDataConfig` says not where the data is written to: `gcsDestination` or "
                     "`bigqueryDestination`");
  }
}

}  // namespace

void check_pipeline(const json& body, const Location& location, Findings& findings) {
  check_names(body, location, findings);
  check_model(body, findings);
  check_data(body, findings);
}

}  // namespace autopack::job
