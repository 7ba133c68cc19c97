#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/findings_text.hpp"
#include "cli/job_options.hpp"
#include "cli/packaging_options.hpp"
#include "cli/preflight.hpp"
#include "cli/submission_request.hpp"
#include "google/project.hpp"
#include "pipeline/image_name.hpp"
#include "pipeline/planning.hpp"
#include "preflight/surroundings.hpp"
#include "resolve/uv.hpp"
#include "rootless/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace autopack::cli {

namespace {

using preflight::Check;

/// Returns the findings of parsing and checking a job, with which submit would end.
Problems findings_of(const Error& error) {
  auto problems = error.as_problems();
  for (auto& problem : problems) {
    problem.check = "job";
  }
  return problems;
}

class DoctorCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    add_job_flags(flags, job_);
    flags.section("Checking");
    add_skip_checks_flag(flags, skip_checks_);
    add_build_flags(flags, build_);
    add_builder_flags(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_, session.flags);
    const auto location = find_location(session, false, Regions::several);
    auto findings = look_at_settings(session, location);
    auto planned = look_at_job(session, location, findings);
    PreflightSources sources{session, location};
    std::vector<Check> checks;
    add_machine_checks(session, sources, planned, checks);
    if (location.is_complete() && !skipped_checks(skip_checks_).service) {
      for (auto& check : preflight::online_checks(planned, sources.sources())) {
        checks.push_back(std::move(check));
      }
    }
    append(findings, preflight::run_checks(checks, sources.stop(), *session.services.cancellation,
                                           time_for_checks(session)));
    return print(session, preflight::without_repeats(findings));
  }

private:
  static Problems look_at_settings(const Session& session, const job::Location& location) {
    const auto setting = [](const std::optional<std::string>& value,
                            const std::optional<job::Origin>& origin) {
      return google::Setting{.value = value, .origin = origin ? to_string(*origin) : ""};
    };
    Problems findings = preflight::judge_sudo(session.services.environment);
    findings.push_back(preflight::judge_setting("project-setting", "project",
                                                setting(location.project, location.project_origin),
                                                {"gcloud config set project ID"}));
    findings.push_back(preflight::judge_setting("region-setting", "region",
                                                setting(location.region, location.region_origin),
                                                {"gcloud config set ai/region us-central1"}));
    return findings;
  }

  static bool names_job(const FlagSet& flags) {
    const auto& keys = job::described_pool_keys();
    return flags.origin("--worker-pool-spec") || flags.origin("--config") ||
           std::ranges::any_of(keys, [&](const job::PoolKey& key) {
             return flags.origin("--" + std::string{key.name}).has_value();
           });
  }

  /// Returns the job of the flags; without any, the needs of every packaged job.
  preflight::PlannedJob look_at_job(const Session& session,
                                    const job::Location& location,
                                    Problems& findings) const {
    preflight::PlannedJob planned{.location = location};
    if (!names_job(session.flags)) {
      const auto name = pipeline::name_image(std::nullopt, "doctor", location);
      if (name.has_registry) {
        planned.packaged =
            preflight::PlannedImage{.target = name.reference, .is_default_name = true};
      }
      return planned;
    }
    try {
      auto request =
          read_submission_request(session, job_, build_, {.checks = skipped_checks(skip_checks_)});
      if (request.package) {
        choose_cloud_build(build_, *request.package);
      }
      if (request.candidates.has_several()) {
        const auto places = request.candidates.in_order();
        findings.push_back(preflight::ok(
            "places", fmt::format("of {} places to try, these checks are about the first, {}",
                                  places.size(), to_string(places.front()))));
      }
      const auto checked = pipeline::check(session.services, request, nullptr);
      pipeline::report_inferred(session.console, checked.inferred);
      for (const auto& problem : checked.warnings) {
        findings.push_back(
            preflight::warning("job", problem.message, problem.origin.value_or(""), problem.hints));
      }
      planned = pipeline::planned_job(request, checked);
      append(findings, preflight::check_offline(planned, !skipped_checks(skip_checks_).service));
    } catch (const Error& error) {
      append(findings, findings_of(error));
    }
    return planned;
  }

  static void add_machine_checks(Session& session,
                                 PreflightSources& sources,
                                 const preflight::PlannedJob& planned,
                                 std::vector<Check>& checks) {
    checks.push_back({"engine", "the engine", [&] { return look_at_engine(session, sources); }});
    checks.push_back({"runtime", "what runs images without an engine",
                      [&] { return look_at_runtime(session.services.environment); }});
    if (planned.packaged && planned.packaged->target.names_registry()) {
      const auto host = planned.packaged->target.host;
      checks.push_back(
          {"registry-source", fmt::format("the login for `{}`", host), [&sources, host] {
             return preflight::or_error("registry-source", [&] {
               return Problems{preflight::judge_login(sources.logins()(host), host)};
             });
           }});
    }
    checks.push_back(
        {"resolver", "the resolver", [&] { return look_at_resolver(session, sources); }});
    checks.push_back({"credentials", "whether the Google credentials are good", [&sources] {
                        return preflight::or_error("credentials", [&] {
                          auto& source = sources.apis().credentials();
                          return Problems{preflight::judge_credentials(source, source.token(),
                                                                       std::time(nullptr))};
                        });
                      }});
  }

  /// An engine behind ssh, and one that has to start, need more time.
  static std::chrono::milliseconds time_for_checks(Session& session) {
    try {
      const auto endpoint =
          engine::find_endpoint(session.services.environment, session.global.engine_host);
      if (endpoint.tunnel || endpoint.starts_podman) {
        return std::chrono::seconds{20};
      }
    } catch (const Error&) {
      // The check of the engine reports it.
    }
    return preflight::time_for_checks;
  }

  static Problems look_at_engine(Session& session, PreflightSources& sources) {
    return preflight::or_error("engine", [&] {
      const auto& environment = session.services.environment;
      const engine::DockerOptions options{
          .endpoint = engine::find_endpoint(environment, session.global.engine_host),
          .reporter = &session.console,
          .cancellation = &sources.stop(),
          .client = &sources.client()};
      Problems findings{
          preflight::judge_engine(engine::make_docker(options)->info(), options.endpoint)};
      append(findings, preflight::judge_settings(engine::read_settings(options), environment));
      return findings;
    });
  }

  /// Not an error if there is none: an engine makes it unnecessary.
  static Problems look_at_runtime(const Environment& environment) {
    constexpr auto* check = "runtime";
    try {
      return {preflight::ok(check, fmt::format("`run` uses {} if no engine answers",
                                               rootless::find_runtime(environment)->name()))};
    } catch (const Error& error) {
      return {preflight::ok(check, "`run` needs an engine: " + error.message(),
                            join(error.causes(), ": "))};
    }
  }

  static Problems look_at_resolver(Session& session, PreflightSources& sources) {
    return preflight::or_error("resolver", [&] {
      const auto uv = resolve::find_uv(session.services.environment, &sources.stop());
      return Problems{preflight::ok(
          "resolver",
          uv ? fmt::format("uv {} from {} resolves requirements", uv->version, uv->origin)
             : "uv is downloaded from the package index when requirements have to be resolved")};
    });
  }

  static int print(Session& session, const Problems& findings) {
    auto streams = session.console.streams();
    streams.errors_are_terminal = streams.output_is_terminal;
    const Paint paint{console_options(session.global, session.services.environment, streams).color};
    report_result(
        session, findings_json(findings),
        findings_text(findings, paint, session.console.charset(), session.console.columns()));
    return has_errors(findings) ? 1 : 0;
  }

  JobOptions job_;
  BuildOptions build_;
  std::string skip_checks_{};
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() {
  return std::make_unique<DoctorCommand>();
}

}  // namespace autopack::cli
