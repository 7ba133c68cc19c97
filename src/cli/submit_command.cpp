#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/attempts.hpp"
#include "cli/cluster_actions.hpp"
#include "cli/cluster_options.hpp"
#include "cli/command.hpp"
#include "cli/container_options.hpp"
#include "cli/detached.hpp"
#include "cli/explanation_page.hpp"
#include "cli/flag_words.hpp"
#include "cli/flags.hpp"
#include "cli/following.hpp"
#include "cli/job_options.hpp"
#include "cli/job_text.hpp"
#include "cli/known_prices.hpp"
#include "cli/local_gpus.hpp"
#include "cli/local_jobs.hpp"
#include "cli/local_options.hpp"
#include "cli/local_screen.hpp"
#include "cli/named_files.hpp"
#include "cli/packaging_options.hpp"
#include "cli/preflight.hpp"
#include "cli/settings.hpp"
#include "cli/submission_request.hpp"
#include "cli/submission_result.hpp"
#include "google/project.hpp"
#include "local/submitter.hpp"
#include "pipeline/explanation.hpp"
#include "pipeline/image_name.hpp"
#include "pipeline/places.hpp"
#include "pipeline/submission.hpp"
#include "services/services.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::cli {

namespace {

/// Adds the flags of `tune`: the study and its trials.
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

/// Adds `--as`, and the flags of a training pipeline besides its job.
void add_pipeline_flags(FlagSet& flags, JobOptions& options) {
  using Group = job::FlagGroup;
  flags.section("Training pipeline", false);
  flags.text("--as", "custom-job|training-pipeline", options.flags.as,
             "resource for the job; default: that of the file, else the job itself");
  add_field_flags(flags, options, Group::model);
  flags.list("--model-ports", "PORT,...", options.model_ports, "ports of the serving container");
  flags.list("--model-env", "NAME=VALUE,...", options.model_env,
             "environment variables of the serving container");
  add_field_flags(flags, options, Group::version);
  flags.list("--model-labels", "KEY=VALUE,...", options.model_labels, "labels of the model");
  add_field_flags(flags, options, Group::data);
}

class SubmitCommand : public Command {
public:
  explicit SubmitCommand(bool tunes) { job_.tunes = tunes; }

  void add_flags(FlagSet& flags) override {
    if (job_.tunes) {
      add_study_flags(flags, job_);
    }
    add_job_flags(flags, job_);
    add_pipeline_flags(flags, job_);
    flags.section("Submitting");
    flags.text("--submitter",
               job_.tunes ? "vertex|local|none" : submitter_words(clusters_) + "|none", submitter_,
               "where it runs; none: stop at the push");
    flags.toggle("--dry-run", dry_run_, "print the request; nothing is built or sent");
    add_follow_flags(flags, follow_);
    flags.section("More of submitting", false);
    add_skip_checks_flag(flags, skip_checks_);
    flags.toggle("--save", save_, "write these flags into `autopack.yaml`");
    flags.text("--html", "FILE", page_,
               "with --dry-run: also write a page that shows job and image as a picture to FILE");
    add_polling_flag(flags, follow_);
    add_local_flags(flags, local_, job_.tunes);
    if (!job_.tunes) {
      for (const auto& cluster : clusters_) {
        cluster->add_submit_flags(flags);
      }
    }
    add_build_flags(flags, build_);
    add_builder_flags(flags, build_);
    add_attest_flags(flags, build_);
    add_output_flag(flags, build_);
    add_sbom_flag(flags, build_);
  }

  int run(Session& session) override {
    if (!page_.empty() && !dry_run_) {
      throw Error(ErrorKind::usage, "`--html` shows what would be sent, and this sends it")
          .hint("add `--dry-run`, or leave it out");
    }
    require_directory_of("--html", page_);
    check_build_options(build_, session.flags);
    if (local_.detach && follow_.any()) {
      throw Error(ErrorKind::usage, fmt::format("`--detach` leaves the job, and `{}` stays with it",
                                                follow_.stream_logs ? "--stream-logs" : "--wait"))
          .hint("use one of them");
    }
    if (local_.resumed && !session.flags.is_typed("--submitter")) {
      submitter_ = "local";  // an interrupted study can only be a local one
    }
    if (submitter_ == "local" && build_.builder != "auto" && session.flags.is_typed("--builder")) {
      throw Error(ErrorKind::usage,
                  "a local job needs its image in the docker engine, so that `--builder` cannot be "
                  "`cloud-build`");
    }
    if (submitter_ != "local") {
      refuse_local_flags(session.flags);
    } else if (local_.detach && !dry_run_) {
      if (const auto status = detached_.leave_to_another(session.services)) {
        return *status;
      }
    }
    refuse_other_clusters(clusters_, submitter_, session.flags);
    if (local_.resumed) {
      const auto record = find_local_job(session, *local_.resumed);
      job_.resumed = {print_json(study_of(record)), record.name()};
    }
    const bool on_cluster = find_cluster(clusters_, submitter_) != nullptr;
    auto request = read_submission_request(
        session, job_, build_, {.checks = skipped_checks(skip_checks_), .on_cluster = on_cluster});
    if (submitter_ == "vertex") {
      request.needs_registry = true;
      const auto missing = job::missing_parts(request.location);
      request.earlier.insert(request.earlier.end(), missing.begin(), missing.end());
    }
    request.needs_registry = request.needs_registry || on_cluster;
    if (request.package && submitter_ != "local") {
      choose_cloud_build(build_, *request.package);
    }
    request.knows_devices = submitter_ != "local";
    if (request.package) {
      if (submitter_ == "local" && !find_gpus().empty()) {
        const auto device = local_gpu();
        request.package->devices = device ? std::vector{*device} : std::vector<gpu::Device>{};
      }
      request.package->refuses_certain &= submitter_ == "vertex" || on_cluster;
      settle_outputs(request);
    }
    if (follow_.any() && submitter_ == "none") {
      throw Error(ErrorKind::usage, "`--submitter=none` makes no job that could be waited for");
    }
    static_cast<void>(longest_wait(follow_.polling_interval));
    if (submitter_ == "vertex" && request.candidates.has_several()) {
      choose_places(session, request);
    }
    GoogleServices google{session};
    SubmissionResult result{session, follow_.any() || (submitter_ == "local" && !local_.detach)};
    const auto submitter = make_submitter(session, request.location, google, result);
    pipeline::AskServices ask;
    if (!dry_run_) {
      ask = [&](const preflight::PlannedJob& job, const job::Job& body) {
        return on_cluster ? submitter->ask(body) : ask_services(session, request.location, job);
      };
    }
    if (on_cluster && skipped_checks(skip_checks_).service) {
      ask = {};
    }
    const auto checked = pipeline::prepare(session.services, request, submitter.get(), ask);
    if (save_) {
      const auto keys = save_settings(session.flags, session.services.environment);
      session.console.done("Saved", keys.empty() ? std::string{"autopack.yaml: nothing new"}
                                                 : "autopack.yaml: " + join(keys, ", "));
    }
    return dry_run_ ? print_request(session, request.location, checked, *submitter)
                    : submit(session, checked, submitter.get(), google, result);
  }

private:
  /// Finds the usable places of a request with several; the request becomes that for the first.
  void choose_places(Session& session, pipeline::SubmissionRequest& request) {
    const auto ask = [&](const std::vector<preflight::PlannedJob>& jobs) {
      return ask_quotas(session, jobs);
    };
    auto found = pipeline::find_places(session.services, request, request.candidates.in_order(),
                                       dry_run_ ? pipeline::AskQuotas{} : ask);
    plan_.labels = job::candidate_labels(request.candidates);
    for (auto& place : found) {
      plan_.places.push_back({.candidate = place.candidate, .job = std::move(place.job)});
    }
    plan_.output_image = request.output_image;
    request = std::move(found.front().request);
    plan_.location = request.location;
  }

  /// Packages, then tries one place after the other.
  void submit_to_places(Session& session,
                        const pipeline::Checked& checked,
                        GoogleServices& google,
                        SubmissionResult& result) const {
    google.service().make_ready();
    auto plan = plan_;
    const auto done = pipeline::submit(session.services, checked, nullptr, set_image(result));
    std::map<std::string, std::string> names;
    for (auto& place : plan.places) {
      if (done.image) {
        const auto name = pipeline::image_in_region(done.image->uri(), plan.output_image,
                                                    plan.location, place.candidate.region);
        place.job = job::with_image(place.job, name);
        names.emplace(to_string(place.candidate), name);
      }
    }
    if (done.image) {
      plan.prepare = [&](const submit::Place& place) {
        pipeline::copy_to_place(session.services, done.image->uri(),
                                names.at(to_string(place.candidate)));
      };
    }
    try_places(session, google, result, follow_, std::move(plan));
  }

  static std::function<void(const packaging::Image& image)> set_image(SubmissionResult& result) {
    return [&result](const packaging::Image& image) {
      result.image(std::make_shared<const nlohmann::json>(packaging::to_json(image)), image.uri());
    };
  }

  /// An image that goes elsewhere, or runs here, is pushed only if a registry was named.
  void settle_outputs(pipeline::SubmissionRequest& request) const {
    const auto& outputs = request.package->outputs;
    const bool stays_here = submitter_ == "local" || (submitter_ == "none" && !outputs.empty());
    if (!stays_here || request.output_image) {
      return;
    }
    request.may_push = false;
    const bool in_daemon = std::ranges::any_of(
        outputs, [](const auto& output) { return output.kind == packaging::Output::Kind::docker; });
    if (submitter_ == "local" && !outputs.empty() && !in_daemon) {
      request.earlier.push_back(
          {.message =
               "a local job runs an image of the docker engine or a registry, and `--output` "
               "names neither",
           .hints = {"add `--output=docker`"}});
    }
  }

  std::unique_ptr<submit::Submitter> make_submitter(Session& session,
                                                    const job::Location& location,
                                                    GoogleServices& google,
                                                    SubmissionResult& result) {
    if (submitter_ == "vertex") {
      return submit::make_vertex_submitter(vertex_options(session, location, google, result));
    }
    if (submitter_ == "local") {
      return local(session, location, result);
    }
    if (auto* const cluster = find_cluster(clusters_, submitter_)) {
      return cluster->make_submitter(session,
                                     {.created = [&result](const submit::SubmittedJob& job) {
                                       result.created("Submitted", job);
                                     }});
    }
    if (dry_run_) {
      throw Error(ErrorKind::usage, "`--dry-run` with `--submitter=none` has no request to show");
    }
    return nullptr;
  }

  std::unique_ptr<submit::Submitter> local(Session& session,
                                           const job::Location& location,
                                           SubmissionResult& result) {
    auto options = local_options(local_, session.services.environment);
    if (local_.resumed) {
      options.resumed = find_local_job(session, *local_.resumed);
    }
    options.docker = session.services.docker.function();
    options.reporter = session.services.reporter;
    options.cancellation = session.services.cancellation;
    options.host.project = location.project;
    options.screen = local_screen(session);
    options.started = [this, &result](const std::string& name) {
      result.created("Started", {.name = name});
      if (local_.detach) {
        result.print();
        detached_.let_go();
      }
    };
    return local::make_local_submitter(std::move(options));
  }

  int print_request(Session& session,
                    const job::Location& location,
                    const pipeline::Checked& checked,
                    const submit::Submitter& submitter) const {
    const auto dry = pipeline::dry_run(session.services, checked, submitter);
    if (!page_.empty()) {
      write_page(session, location, checked, dry);
    }
    nlohmann::json image;
    if (dry.image) {
      image = {{"uri", *dry.image}};
    }
    nlohmann::json result{
        {"image", image},
        {"request",
         {{"method", dry.request.method}, {"url", dry.request.url}, {"body", *dry.request.body}}}};
    for (const auto& place : plan_.places) {
      auto object = place_object(place);
      report_cost(session, place.job, place.candidate.region, object);
      result["attempts"].push_back(std::move(object));
    }
    if (plan_.places.empty() && submitter_ == "vertex") {
      report_cost(session, checked.job, location.region, result);
    }
    const auto origin = session.flags.origin("--dry-run");
    const bool is_typed = !origin || origin->is_flag("--dry-run");
    session.console.done("Dry run", "nothing was built or sent" +
                                        (is_typed ? "" : ", because of " + to_string(*origin)));
    if (dry.request.text && session.format.kind == OutputFormat::Kind::text) {
      session.console.result(*dry.request.text);
      return 0;
    }
    const OutputFormat json{.kind = OutputFormat::Kind::json};
    session.console.result(render(
        session.format.kind == OutputFormat::Kind::text ? json : session.format, result, ""));
    return 0;
  }

  void write_page(Session& session,
                  const job::Location& location,
                  const pipeline::Checked& checked,
                  const pipeline::DryRun& dry) const {
    auto shown = nlohmann::json::object();
    if (dry.work) {
      pipeline::Adviser adviser{session.services, *dry.work};
      shown = explanation_object(pipeline::explain(session.services, *dry.work, adviser),
                                 dry.work->plan());
    }
    shown["job"] = job_object(checked.job, dry.image, location);
    write_file(page_, explanation_page(shown));
    session.console.done("Wrote", page_);
  }

  int submit(Session& session,
             const pipeline::Checked& checked,
             submit::Submitter* submitter,
             GoogleServices& google,
             SubmissionResult& result) const {
    int status = 0;
    const int failed = result.run([&] {
      if (!plan_.places.empty()) {
        submit_to_places(session, checked, google, result);
      } else {
        status = submit_to_one(session, checked, submitter, google, result);
      }
    });
    return failed == 0 ? status : failed;
  }

  int submit_to_one(Session& session,
                    const pipeline::Checked& checked,
                    submit::Submitter* submitter,
                    GoogleServices& google,
                    SubmissionResult& result) const {
    const auto done = pipeline::submit(session.services, checked, submitter, set_image(result));
    if (done.job.answer) {
      result.job(done.job.answer);
    }
    if (follow_.any() && submitter_ == "vertex") {
      result.job(follow(session, google, done.job.name.value_or(""), follow_));
      throw_unless_succeeded(result.job());
    }
    if (submitter_ == "local") {
      return report_local_end(session, result, done.job);
    }
    auto* const cluster = find_cluster(clusters_, submitter_);
    if (follow_.any() && cluster != nullptr) {
      const auto name = done.job.name.value_or("");
      const auto jobs = cluster->make_jobs(session, name);
      result.job(std::make_shared<const nlohmann::json>(
          follow_cluster_job(session, *jobs, name, follow_)));
      throw_unless_succeeded(result.job());
    }
    result.print();
    return 0;
  }

  /// Returns the exit status of the replica that decided it.
  static int report_local_end(Session& session,
                              const SubmissionResult& result,
                              const submit::SubmittedJob& job) {
    result.print();
    if (session.format.kind == OutputFormat::Kind::text) {
      session.console.program_errors(trial_table(*job.answer, session.console.error_paint()));
    }
    if (const auto best = best_trial(*job.answer)) {
      session.console.done("Best", *best);
    }
    if (const auto failure = submit::failure_of(*job.answer)) {
      session.console.error(*failure);
      return job.status == 0 ? 1 : job.status;
    }
    session.console.done("Succeeded", job.name.value_or(""));
    return 0;
  }

  JobOptions job_;
  BuildOptions build_;
  LocalFlags local_{};
  Detached detached_{};
  FollowFlags follow_{};
  AttemptsPlan plan_{};
  std::vector<std::unique_ptr<ClusterOptions>> clusters_{cluster_options()};
  std::string submitter_{"vertex"};
  std::string page_{};
  bool dry_run_{false};
  bool save_{false};
  std::string skip_checks_{};
};

}  // namespace

std::unique_ptr<Command> make_submit_command() {
  return std::make_unique<SubmitCommand>(false);
}

std::unique_ptr<Command> make_tune_command() {
  return std::make_unique<SubmitCommand>(true);
}

}  // namespace autopack::cli
