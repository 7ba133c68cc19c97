#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/following.hpp"
#include "cli/job_options.hpp"
#include "cli/kind_options.hpp"
#include "cli/packaging_options.hpp"
#include "cli/preflight.hpp"
#include "cli/settings.hpp"
#include "cli/submission_request.hpp"
#include "cli/submission_result.hpp"
#include "google/project.hpp"
#include "pipeline/submission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

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
    add_polling_flag(flags, follow_);
    add_pipeline_flags(flags, job_);
    flags.section("Submitting");
    flags.text("--submitter", "vertex|local|none", submitter_,
               "where it runs; none: stop at the push");
    flags.toggle("--dry-run", dry_run_, "print the request; nothing is built or sent");
    flags.toggle("--skip-checks", skip_checks_, "ask no service and no table of what it offers");
    flags.toggle("--save", save_, "write these flags into `autopack.yaml`");
    add_follow_flags(flags, follow_);
    add_build_flags(flags, build_);
    add_output_flag(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_);
    auto request = read_submission_request(session, job_, build_, skip_checks_);
    if (submitter_ == "vertex") {
      const auto missing = job::missing_parts(request.location);
      request.earlier.insert(request.earlier.end(), missing.begin(), missing.end());
    }
    if (request.package) {
      settle_outputs(request);
    }
    if (follow_.any() && submitter_ == "none") {
      throw Error(ErrorKind::usage, "`--submitter=none` makes no job that could be waited for");
    }
    static_cast<void>(longest_wait(follow_.polling_interval));
    GoogleServices google{session};
    SubmissionResult result{session};
    const auto submitter = make_submitter(session, request.location, google, result);
    const auto checked = pipeline::check(request, submitter.get());
    for (const auto& warning : checked.warnings) {
      session.console.warn(warning);
    }
    if (submitter_ == "vertex") {
      preflight_or_throw(session, request, checked, !dry_run_);
    }
    if (save_) {
      const auto keys = save_settings(session.flags);
      session.console.done("Saved", keys.empty() ? std::string{"autopack.yaml: nothing new"}
                                                 : "autopack.yaml: " + join(keys, ", "));
    }
    return dry_run_ ? print_request(session, checked, *submitter)
                    : submit(session, checked, submitter.get(), google, result);
  }

private:
  /// An image that goes elsewhere is pushed when a registry was named, or the job needs it there.
  void settle_outputs(pipeline::SubmissionRequest& request) const {
    const auto& outputs = request.package->outputs;
    if (outputs.empty() || submitter_ == "vertex" || !request.output_image.empty()) {
      return;
    }
    request.may_push = false;
    const bool in_daemon = std::any_of(outputs.begin(), outputs.end(), [](const auto& output) {
      return output.kind == packaging::Output::Kind::docker;
    });
    if (submitter_ == "local" && !in_daemon) {
      request.earlier.push_back(
          {.message = "a local job runs an image of the daemon or of a registry, and `--output` "
                      "names neither",
           .hints = {"add `--output=docker`"}});
    }
  }

  std::unique_ptr<submit::Submitter> make_submitter(Session& session,
                                                    const job::Location& location,
                                                    GoogleServices& google,
                                                    SubmissionResult& result) const {
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
      return local(session, result);
    }
    if (dry_run_) {
      throw Error(ErrorKind::usage, "`--dry-run` with `--submitter=none` has no request to show");
    }
    return nullptr;
  }

  static std::unique_ptr<submit::Submitter> local(Session& session, SubmissionResult& result) {
    return submit::make_local_submitter(
        {.docker = session.services.docker.function(),
         .reporter = session.services.reporter,
         .has_gpu = std::filesystem::exists("/dev/nvidiactl"),
         .log = [&](std::string_view bytes) { session.console.program_errors(bytes); },
         .started = [&](const std::string& name) { result.created("Started", {.name = name}); }});
  }

  static int print_request(Session& session,
                           const pipeline::Checked& checked,
                           const submit::Submitter& submitter) {
    const auto dry = pipeline::dry_run(session.services, checked, submitter);
    nlohmann::json image;
    if (!dry.image.empty()) {
      image = {{"uri", dry.image}};
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
        result.job(follow(session, google, done.job.name, follow_));
        throw_unless_succeeded(result.job());
      }
      result.print();
      return done.job.status;
    } catch (const Error& error) {
      if (!result.has_job()) {
        throw;
      }
      return result.fail(error);
    }
  }

  JobOptions job_;
  BuildOptions build_;
  FollowFlags follow_{};
  std::string submitter_{"vertex"};
  bool dry_run_{false};
  bool save_{false};
  bool skip_checks_{false};
};

}  // namespace

std::unique_ptr<Command> make_submit_command() {
  return std::make_unique<SubmitCommand>(false);
}

std::unique_ptr<Command> make_tune_command() {
  return std::make_unique<SubmitCommand>(true);
}

}  // namespace autopack::cli
