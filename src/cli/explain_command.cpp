#include "base/contains.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/emphasis.hpp"
#include "cli/explanation_page.hpp"
#include "cli/explanation_text.hpp"
#include "cli/known_prices.hpp"
#include "cli/named_files.hpp"
#include "cli/packaging_options.hpp"
#include "executor/executor_image.hpp"
#include "job/candidates.hpp"
#include "job/tables.hpp"
#include "pipeline/advice.hpp"
#include "pipeline/devices.hpp"
#include "pipeline/explanation.hpp"
#include "pipeline/package.hpp"
#include "pipeline/planning.hpp"
#include "pipeline/scan.hpp"
#include "pipeline/secrets.hpp"

#include <fmt/format.h>

namespace autopack::cli {

namespace {

class ExplainCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("What to print");
    flags.toggle("--check", check_, "only the problems, without an engine");
    flags.text("--html", "FILE", page_, "also write a page that shows it as a picture to FILE");
    flags.text("--accelerator-type", "TYPE", accelerator_,
               "compare the GPU code in the image with this accelerator");
    flags.text("--machine-type", "TYPE", machine_,
               "the same for the accelerator that it always has");
    add_packaging_flags(flags, packaging_);
    add_build_flags(flags, build_);
    add_builder_flags(flags, build_);
  }

  int run(Session& session) override {
    if (check_ && !page_.empty()) {
      throw Error(ErrorKind::usage, "`--check` plans nothing that `--html` could show")
          .hint("leave one of them out");
    }
    require_directory_of("--html", page_);
    const auto platforms = platforms_of(session.flags, build_);
    if (platforms.size() > 1 && !page_.empty()) {
      throw Error(ErrorKind::usage, "`--html` shows the image of one platform")
          .hint("name one `--platform` for each page");
    }
    check_build_options(build_);
    auto objects = nlohmann::json::object();
    for (const auto& platform : platforms) {
      build_.platform = platform;
      objects[platform] = explain(session, platform == platforms.front());
    }
    if (!check_ && session.format.kind != OutputFormat::Kind::text) {
      session.console.result(render(
          session, platforms.size() > 1 ? nlohmann::json{{"platforms", objects}} : objects.front(),
          ""));
    }
    return 0;
  }

private:
  /// Returns the machine of the flags; of several accelerators the first.
  job::PoolFlags machine() const {
    job::PoolFlags own;
    own.machine_type = non_empty(machine_);
    const auto names = job::candidate_names({accelerator_});
    own.accelerator_type = names.empty() ? std::nullopt : std::optional{names.front()};
    return own;
  }

  /// Returns the accelerators of the flags and of the settings' job. Throws Error(usage) for an
  /// unknown one.
  std::vector<gpu::Device> devices(const Session& session) const {
    std::vector<job::Machine> machines;
    for (const auto& name : job::candidate_names({accelerator_})) {
      const auto known = job::tables::accelerator_types();
      if (!contains(known, name)) {
        throw Error(ErrorKind::usage,
                    fmt::format("`{}` is not an accelerator type{}", printable(name),
                                job::tables::did_you_mean(name, known)));
      }
      machines.push_back({.type = non_empty(machine_), .accelerator = name});
    }
    if (const auto job = job_of_settings(session, machine())) {
      for (const auto& pool : job->spec.pools) {
        machines.push_back(pool.machine.value_or(job::Machine{}));
      }
    }
    std::vector<gpu::Device> found;
    for (const auto& machine : machines) {
      auto device = pipeline::device_of(machine);
      if (device && !contains(found, *device)) {
        found.push_back(*std::move(device));
      }
    }
    return found;
  }

  /// Prints the image for the platform of the options for people; returns the object for programs.
  nlohmann::json explain(Session& session, bool is_first) const {
    require_executor(packaging_, build_);
    auto& services = session.services;
    const auto wanted = [&] {
      auto request = package_request(packaging_, build_, session.flags, services.environment);
      choose_cloud_build(build_, request);
      request.devices = devices(session);
      const pipeline::ReadingStep step{session.console, request};
      return pipeline::scan_wanted(std::move(request), pipeline::Walks::several);
    }();
    if (is_first) {
      pipeline::report_inferred(session.console, wanted->inferred);
    }
    if (check_) {
      pipeline::check_offline(services, wanted);
      return {};
    }
    wanted->name = image_name(packaging_, wanted->request, find_location(session));
    const auto work = pipeline::plan_packaging(
        services, wanted, executor::facts_or_assumed(services, wanted->request));
    auto secrets = pipeline::find_secrets(work.plan());
    for (auto& secret : secrets) {
      secret.severity = Problem::Severity::warning;
    }
    pipeline::Adviser adviser{services, work, std::move(secrets)};
    const auto explanation = pipeline::explain(services, work, adviser);
    adviser.report_all(executor::LookInto::engine);
    pipeline::report_scanned(session.console, work);
    const bool is_for_people = session.format.kind == OutputFormat::Kind::text;
    auto object = is_for_people && page_.empty() ? nlohmann::json{}
                                                 : explanation_object(explanation, work.plan());
    if (const auto job = is_first ? job_of_settings(session, machine()) : std::nullopt) {
      report_cost(session, *job, find_location(session).region, object);
    }
    if (!page_.empty()) {
      write_file(page_, explanation_page(object));
      session.console.done("Wrote", page_);
    }
    if (is_for_people) {
      const auto detail = session.console.is_verbose() ? Detail::whole : Detail::brief;
      session.console.result_for_people(
          (is_first ? "" : "\n") + with_headings(explanation_text(explanation, work.plan(), detail),
                                                 session.console.output_paint()));
    }
    return object;
  }

  PackagingOptions packaging_;
  BuildOptions build_;
  std::string accelerator_{};
  std::string machine_{};
  bool check_{false};
  std::string page_{};
};

}  // namespace

std::unique_ptr<Command> make_explain_command() {
  return std::make_unique<ExplainCommand>();
}

}  // namespace autopack::cli
