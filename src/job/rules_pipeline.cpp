#include "base/text.hpp"
#include "job/resource_names.hpp"
#include "job/rules.hpp"

#include <fmt/format.h>

#include <array>

namespace autopack::job {

namespace {

constexpr double tolerance = 1e-6;  // for the sum of fractions

void check_names(const Job& job, const Location& location, Review& review) {
  constexpr auto* model_form = "projects/PROJECT/locations/REGION/models/ID";
  const auto id = job.model_id.value_or("");
  if (!id.empty() && !is_model_id(id)) {
    review.error("modelId",
                 fmt::format("`{}` is not a model id: lower-case letters, digits, `_` and `-`, no "
                             "digit or `-` first, at most 63",
                             printable(id)));
  }
  const auto parent = job.parent_model.value_or("");
  if (parent.empty()) {
    return;
  }
  const auto match = match_name(parent, model_form);
  if (!match) {
    review.error("parentModel", fmt::format("`{}` is not the name of a model: expected `{}`",
                                            printable(parent), model_form));
  } else if (location.region && match->region != location.region) {
    review.error("parentModel", fmt::format("`parentModel` is in `{}`, but the job is in `{}`",
                                            *match->region, *location.region));
  }
}

void check_model(const Job& job, Review& review) {
  if (!job.model) {
    const auto refuse = [&](const std::string& path) {
      review.error(path, fmt::format("`{}` is given, but no model to upload", path),
                   {"--model-display-name=NAME --model-image-uri=IMAGE"});
    };
    if (job.model_id) {
      refuse("modelId");
    }
    if (job.parent_model) {
      refuse("parentModel");
    }
    return;
  }
  const auto& model = *job.model;
  if (model.display_name.value_or("").empty() && !review.was_given("modelToUpload.displayName")) {
    review.error("modelToUpload", "the model to upload has no name", {"--model-display-name=NAME"});
  }
  const auto image = model.container ? model.container->image.value_or("") : "";
  if (image.empty() && !review.was_given("modelToUpload.containerSpec.imageUri")) {
    review.error("modelToUpload", "the model to upload has no serving image",
                 {"--model-image-uri=us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-0"});
  }
  if (!model.artifact_uri && !job.spec.output) {
    review.warning("modelToUpload",
                   "the model is taken from AIP_MODEL_DIR, which only a base output directory "
                   "gives: --base-output-dir=gs://BUCKET/PATH");
  }
}

void check_split(const std::optional<Split>& split, const std::string& path, Review& review) {
  if (!split) {
    return;
  }
  const std::array<std::pair<const char*, double>, 3> parts{{
      {"trainingFraction", split->training.value_or(0)},
      {"validationFraction", split->validation.value_or(0)},
      {"testFraction", split->test.value_or(0)},
  }};
  double sum = 0;
  for (const auto& [part, fraction] : parts) {
    sum += fraction;
    if (fraction < 0 || fraction > 1) {
      review.error(path, fmt::format("{} is {}, no fraction",
                                     shown_path(fmt::format("{}.{}", path, part)), fraction));
    }
  }
  if (sum > 1 + tolerance) {
    review.error(path, fmt::format("the fractions of {} are {} together; 1 is the whole",
                                   shown_path(path), sum));
  }
}

void check_data(const InputData& data, Review& review) {
  check_split(data.fractions, "inputDataConfig.fractionSplit", review);
  check_split(data.stratified, "inputDataConfig.stratifiedSplit", review);
  check_split(data.by_time, "inputDataConfig.timestampSplit", review);
  if (data.saved_query_id && data.annotation_schema_uri) {
    review.error("inputDataConfig.savedQueryId",
                 "`savedQueryId` and `annotationSchemaUri` exclude each other");
  }
  if (!data.to_storage && !data.to_bigquery) {
    review.warning(
        "inputDataConfig",
        "`inputDataConfig` does not say where the data is written to: `gcsDestination` or "
        "`bigqueryDestination`");
  }
}

}  // namespace

void check_pipeline(const Job& job, const Location& location, Review& review) {
  check_names(job, location, review);
  check_model(job, review);
  if (job.data) {
    check_data(*job.data, review);
  }
}

}  // namespace autopack::job
