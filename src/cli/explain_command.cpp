#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/packaging_options.hpp"
#include "pipeline/advice.hpp"
#include "pipeline/base.hpp"
#include "pipeline/explanation.hpp"
#include "pipeline/secrets.hpp"
#include "source/remembering_tree.hpp"

namespace autopack::cli {

namespace {

class ExplainCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("What to tell");
    flags.toggle("--check", check_, "only what is wrong, without an engine");
    add_packaging_flags(flags, packaging_);
    add_build_flags(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_);
    require_executor(packaging_, build_);
    auto& services = session.services;
    const auto request = package_request(packaging_, build_, services.environment);
    auto scanned = pipeline::scan(request);
    if (check_) {
      pipeline::check_offline(services, request, scanned);
      return 0;
    }
    scanned.tree = source::remembering(scanned.tree);
    const auto base =
        request.executor_image.empty()
            ? image::BaseFacts{.platform = request.options.platform}
            : pipeline::base_or_assumed(services, request.executor_image, request.options.platform);
    const auto plan = pipeline::decide(services, request, scanned, base);
    const auto name = pipeline::name_image(
        packaging_.output_image, job_name(packaging_.display_name, request.project.directory),
        find_location(session));
    auto explanation = pipeline::explain(services, request, scanned, plan, name);
    for (auto& problem : pipeline::find_secrets(plan)) {
      problem.severity = Problem::Severity::warning;
      explanation.advice.push_back(std::move(problem));
    }
    for (const auto& warning : explanation.advice) {
      session.console.warn(warning);
    }
    if (request.strict) {
      pipeline::refuse_warnings(scanned, plan, {.warnings = explanation.advice});
    }
    if (session.format.kind == OutputFormat::Kind::text) {
      const auto detail =
          session.console.is_verbose() ? pipeline::Detail::whole : pipeline::Detail::brief;
      session.console.result_for_people(pipeline::to_text(explanation, plan, detail));
    } else {
      session.console.result(render(session.format, whole(explanation, plan), ""));
    }
    return 0;
  }

private:
  /// The Plan, with what was found out about it.
  static nlohmann::json whole(const pipeline::Explanation& explanation, const plan::Plan& plan) {
    auto object = parse_json(plan::to_json(plan));
    object.update(pipeline::to_json(explanation));
    for (const auto& warning : explanation.advice) {
      object["warnings"].push_back({{"message", printable(warning.message)},
                                    {"origin", printable(warning.origin)},
                                    {"hints", hint_texts(warning.hints)}});
    }
    return object;
  }

  PackagingOptions packaging_;
  BuildOptions build_;
  bool check_{false};
};

}  // namespace

std::unique_ptr<Command> make_explain_command() {
  return std::make_unique<ExplainCommand>();
}

}  // namespace autopack::cli
