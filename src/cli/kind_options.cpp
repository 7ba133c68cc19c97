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
  using Group = job::FlagGroup;
  flags.section("Training pipeline", false);
  flags.text("--as", "custom-job|training-pipeline", options.flags.as,
             "what holds the job; default: as the file says, else the job itself");
  add_field_flags(flags, options, Group::model);
  flags.list("--model-ports", "PORT,...", options.model_ports, "ports of the serving container");
  flags.list("--model-env", "NAME=VALUE,...", options.model_env,
             "environment variables of the serving container");
  add_field_flags(flags, options, Group::version);
  flags.list("--model-labels", "KEY=VALUE,...", options.model_labels, "labels of the model");
  add_field_flags(flags, options, Group::data);
}

}  // namespace autopack::cli
