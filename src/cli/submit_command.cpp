#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/detached.hpp"
#include "cli/explanation_page.hpp"
#include "cli/following.hpp"
#include "cli/job_object.hpp"
#include "cli/job_options.hpp"
#include "cli/kind_options.hpp"
#include "cli/local_flags.hpp"
#include "cli/local_jobs.hpp"
#include "cli/local_screen.hpp"
#include "cli/packaging_options.hpp"
#include "cli/preflight.hpp"
#include "cli/settings.hpp"
#include "cli/submission_request.hpp"
#include "cli/submission_result.hpp"
#include "cli/trial_text.hpp"
#include "google/project.hpp"
#include "pipeline/explanation.hpp"
#include "pipeline/submission.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::cli {

namespace {

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
    flags.text("--submitter", "vertex|local|none", submitter_,
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
    add_build_flags(flags, build_);
    add_output_flag(flags, build_);
  }

  int run(Session& session) override {
    if (!page_.empty() && !dry_run_) {
      throw Error(ErrorKind::usage, "`--html` shows what would be sent, and this sends it")
          .hint("add `--dry-run`, or leave it out");
    }
    check_build_options(build_, session.flags);
    if (local_.resumed && !session.flags.is_typed("--submitter")) {
      submitter_ = "local";  // an interrupted study can only be a local one
    }
    if (submitter_ != "local") {
      refuse_local_flags(session.flags);
    } else if (local_.detach && !dry_run_) {
      if (const auto status = detached_.leave_to_another(session.services)) {
        return *status;
      }
    }
    if (local_.resumed) {
      const auto record = find_local_job(session, *local_.resumed);
      job_.resumed = {print_json(study_of(record)), record.name()};
    }
    auto request = read_submission_request(session, job_, build_, skipped_checks(skip_checks_));
    if (submitter_ == "vertex") {
      request.needs_registry = true;
      const auto missing = job::missing_parts(request.location);
      request.earlier.insert(request.earlier.end(), missing.begin(), missing.end());
    }
    if (request.package) {
      request.package->refuses_certain &= submitter_ == "vertex";
      settle_outputs(request);
    }
    if (follow_.any() && submitter_ == "none") {
      throw Error(ErrorKind::usage, "`--submitter=none` makes no job that could be waited for");
    }
    static_cast<void>(longest_wait(follow_.polling_interval));
    GoogleServices google{session};
    SubmissionResult result{session, follow_.any()};
    const auto submitter = make_submitter(session, request.location, google, result);
    const auto ask = [&](const preflight::PlannedJob& job) {
      return ask_services(session, request.location, job);
    };
    const auto checked = pipeline::prepare(session.services, request, submitter.get(),
                                           dry_run_ ? pipeline::AskServices{} : ask);
    if (save_) {
      const auto keys = save_settings(session.flags, session.services.environment);
      session.console.done("Saved", keys.empty() ? std::string{"autopack.yaml: nothing new"}
                                                 : "autopack.yaml: " + join(keys, ", "));
    }
    return dry_run_ ? print_request(session, request.location, checked, *submitter)
                    : submit(session, checked, submitter.get(), google, result);
  }

private:
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
          {.message = "a local job runs an image of the daemon or of a registry, and `--output` "
                      "names neither",
           .hints = {"add `--output=docker`"}});
    }
  }

  std::unique_ptr<submit::Submitter> make_submitter(Session& session,
                                                    const job::Location& location,
                                                    GoogleServices& google,
                                                    SubmissionResult& result) {
    if (submitter_ == "vertex") {
      return submit::make_vertex_submitter(
          {.location = location,
           .endpoint_override = google.aiplatform_override(),
           .service = &google.service(),
           .uninterrupted = session.services.unstoppable_client.function(),
           .reporter = &session.console,
           .created = [&](const submit::SubmittedJob& job) { result.created("Submitted", job); },
           .records = session.services.environment.cache_directory() / "submissions"});
    }
    if (submitter_ == "local") {
      return local(session, location, result);
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
    const nlohmann::json result{
        {"image", image},
        {"request",
         {{"method", dry.request.method}, {"url", dry.request.url}, {"body", *dry.request.body}}}};
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
    try {
      const auto done = pipeline::submit(
          session.services, checked, submitter, [&](const packaging::Image& image) {
            result.image(std::make_shared<const nlohmann::json>(packaging::to_json(image)),
                         image.uri());
          });
      if (done.job.answer) {
        result.job(done.job.answer);
      }
      if (follow_.any() && submitter_ == "vertex") {
        result.job(follow(session, google, done.job.name.value_or(""), follow_));
        throw_unless_succeeded(result.job());
      }
      if (submitter_ == "local") {
        return tell_local_end(session, result, done.job);
      }
      result.print();
      return 0;
    } catch (const Interrupted& end) {
      if (!result.has_job()) {
        throw;
      }
      return result.fail(end);
    } catch (const Error& error) {
      if (!result.has_job()) {
        throw;
      }
      return result.fail(error);
    }
  }

  /// Returns the exit status of the replica that decided it.
  static int tell_local_end(Session& session,
                            const SubmissionResult& result,
                            const submit::SubmittedJob& job) {
    result.print();
    if (session.format.kind == OutputFormat::Kind::text) {
      session.console.program_errors(trial_table(*job.answer));
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
