#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/job_options.hpp"
#include "cli/packaging_options.hpp"
#include "google/project.hpp"
#include "pipeline/submission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace autopack::cli {

namespace {

class SubmitCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    add_job_flags(flags, job_);
    flags.section("Submitting");
    flags.text("--submitter", "vertex|local|none", submitter_,
               "where it runs; none: stop at the push");
    flags.toggle("--dry-run", dry_run_, "print the request; nothing is built or sent");
    flags.toggle("--skip-checks", skip_checks_, "leave out tables of what the service offers");
    add_build_flags(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_);
    refuse_ineffective(session.global);
    const auto request = read_request(session);
    std::string started;
    const auto submitter = make_submitter(session, request.location, started);
    const auto checked = pipeline::check(request, submitter.get());
    for (const auto& warning : checked.job.warnings) {
      session.console.warn(warning);
    }
    return dry_run_ ? print_request(session, request, checked, *submitter)
                    : submit(session, request, checked, submitter.get(), started);
  }

private:
  pipeline::SubmissionRequest read_request(const Session& session) const {
    pipeline::SubmissionRequest request{.location = find_location(session),
                                        .checks = {.skip_tables = skip_checks_, .today = today()}};
    request.flags = job_flags(job_, session.flags, request.earlier);
    request.flags.own_dockerfile = !build_.dockerfile.empty();
    require_location(request);
    request.config = read_config(job_.config, request.earlier);
    const auto& pools = request.flags.pools;
    const auto packaged = std::find_if(pools.begin(), pools.end(), [](const job::PoolFlags& pool) {
      return pool.local_package_path.has_value();
    });
    std::filesystem::path directory = ".";
    if (packaged != pools.end()) {
      request.package = package_request(*packaged, build_, session.services.environment);
      request.output_image = packaged->output_image_uri.value_or("");
      directory = request.package->project.directory;
    }
    request.flags.fallback_display_name = directory_name(directory);
    return request;
  }

  void require_location(pipeline::SubmissionRequest& request) const {
    if (submitter_ != "vertex") {
      return;
    }
    if (request.location.project.empty()) {
      request.earlier.push_back({.message = "no Google Cloud project is set",
                                 .hints = {"`--project ID` or `gcloud config set project ID`"}});
    }
    if (request.location.region.empty()) {
      request.earlier.push_back(
          {.message = "no region is set",
           .hints = {"`--region us-central1` or `gcloud config set ai/region us-central1`"}});
    }
  }

  std::unique_ptr<submit::Submitter> make_submitter(Session& session,
                                                    const job::Location& location,
                                                    std::string& started) const {
    if (submitter_ == "vertex") {
      return vertex(session, location);
    }
    if (submitter_ == "local") {
      return local(session, started);
    }
    if (dry_run_) {
      throw Error(ErrorKind::usage, "`--dry-run` with `--submitter=none` has no request to show");
    }
    return nullptr;
  }

  static std::unique_ptr<submit::Submitter> vertex(Session& session,
                                                   const job::Location& location) {
    const auto& environment = session.services.environment;
    const auto configuration =
        google::read_gcloud_configuration(environment, session.global.configuration);
    auto& services = session.services;
    return submit::make_vertex_submitter(
        {.location = location,
         .endpoint_override = google::find_endpoint("aiplatform", environment, configuration).value,
         .credentials = services.google,
         .client = &services.client()});
  }

  static std::unique_ptr<submit::Submitter> local(Session& session, std::string& started) {
    return submit::make_local_submitter(
        {.docker = session.services.docker,
         .reporter = session.services.reporter,
         .has_gpu = std::filesystem::exists("/dev/nvidiactl"),
         .log = [&](std::string_view bytes) { session.console.program_errors(bytes); },
         .started =
             [&](const std::string& name) {
               started = name;
               session.console.done("Started", name);
               if (session.format.kind != OutputFormat::Kind::json) {
                 session.console.result(
                     render(session.format, nlohmann::json{{"name", name}}, name));
               }
             }});
  }

  static int print_request(Session& session,
                           const pipeline::SubmissionRequest& request,
                           const pipeline::Checked& checked,
                           const submit::Submitter& submitter) {
    const auto dry = pipeline::dry_run(session.services, request, checked, submitter);
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
             const pipeline::SubmissionRequest& request,
             const pipeline::Checked& checked,
             submit::Submitter* submitter,
             const std::string& started) const {
    const auto done = pipeline::submit(session.services, request, checked, submitter);
    nlohmann::json result{{"image", done.image ? pipeline::to_json(*done.image) : nlohmann::json{}},
                          {"job", done.job.answer ? *done.job.answer : nlohmann::json{}}};
    if (submitter_ == "vertex") {
      session.console.done("Submitted", done.job.name);
    }
    const bool printed = !started.empty() && session.format.kind != OutputFormat::Kind::json;
    if (!printed) {
      const std::string text =
          submitter == nullptr && done.image ? done.image->uri() : done.job.name;
      session.console.result(render(session.format, result, text));
    }
    return done.job.status;
  }

  JobOptions job_;
  BuildOptions build_;
  std::string submitter_{"vertex"};
  bool dry_run_{false};
  bool skip_checks_{false};
};

}  // namespace

std::unique_ptr<Command> make_submit_command() {
  return std::make_unique<SubmitCommand>();
}

}  // namespace autopack::cli
