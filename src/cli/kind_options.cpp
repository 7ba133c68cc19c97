#include "cli/kind_options.hpp"

namespace autopack::cli {

void add_study_flags(FlagSet& flags, JobOptions& options) {
  auto& study = options.flags.study;
  flags.section("Study");
  flags.list("--metric", "NAME:GOAL", study.metrics, "goal: maximize, minimize; one each time");
  flags.list("--parameter", "NAME:VALUES", study.parameters,
             "lr:double:1e-5..1e-1:log opt:adam|sgd");
  flags.number("--max-trial-count", "N", study.max_trial_count, "trials in all; default: 1");
  flags.number("--parallel-trial-count", "N", study.parallel_trial_count,
               "trials at a time; default: 1");
  flags.toggle("--with-hypertune", options.with_hypertune,
               "add cloudml-hypertune to the requirements");
  flags.section("More of the study", false);
  flags.number("--max-failed-trial-count", "N", study.max_failed_trial_count,
               "failed trials that end the job");
  flags.text("--algorithm", "grid-search|random-search|...", study.algorithm,
             "default: Bayesian optimization");
  flags.text("--measurement-selection", "best|last|...", study.measurement_selection,
             "which of a trial's reports counts");
  flags.text("--early-stopping", "median|decay-curve|convex|...", study.early_stopping,
             "ends trials without prospects");
}

void add_pipeline_flags(FlagSet& flags, JobOptions& options) {
  auto& job = options.flags;
  auto& pipeline = job.pipeline;
  flags.section("Training pipeline", false);
  flags.text("--as", "custom-job|training-pipeline", job.as,
             "what holds the job; default: as the file says, else the job itself");
  flags.text("--model-display-name", "NAME", pipeline.model_display_name,
             "upload what is in AIP_MODEL_DIR as this model");
  flags.text("--model-image-uri", "IMAGE", pipeline.model_image_uri, "image that serves the model");
  flags.text("--model-artifact-uri", "GS_URI", pipeline.model_artifact_uri,
             "where the model is; default: below --base-output-dir");
  flags.text("--model-predict-route", "PATH", pipeline.model_predict_route,
             "path that answers predictions");
  flags.text("--model-health-route", "PATH", pipeline.model_health_route, "path that tells health");
  flags.list("--model-ports", "PORT,...", options.model_ports, "ports of the serving container");
  flags.list("--model-env", "NAME=VALUE,...", options.model_env,
             "environment variables of the serving container");
  flags.text("--model-description", "TEXT", pipeline.model_description, "what the model is for");
  flags.list("--model-labels", "KEY=VALUE,...", options.model_labels, "labels of the model");
  flags.text("--model-id", "ID", pipeline.model_id, "last part of the model's name");
  flags.text("--parent-model", "NAME", pipeline.parent_model, "make it a version of this model");
  flags.list("--model-version-aliases", "NAME,...", options.model_version_aliases,
             "names of the version");
  flags.text("--model-version-description", "TEXT", pipeline.model_version_description,
             "what is new in the version");
  flags.text("--dataset-id", "ID", pipeline.dataset_id,
             "dataset to train on; how it is split stands in a --config file");
}

}  // namespace autopack::cli
