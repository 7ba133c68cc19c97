#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/packaging_options.hpp"
#include "pipeline/base.hpp"
#include "pipeline/explanation.hpp"

namespace autopack::cli {

namespace {

class ExplainCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    add_packaging_flags(flags, packaging_);
    add_build_flags(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_);
    require_executor(packaging_, build_);
    auto& services = session.services;
    const auto request = package_request(packaging_, build_, services.environment);
    const auto scanned = pipeline::scan(request);
    const auto base = request.executor_image.empty()
                          ? image::BaseFacts{.platform = request.options.platform}
                          : pipeline::base_as_seen(services, request.executor_image,
                                                   request.options.platform, std::nullopt);
    const auto plan = pipeline::decide(services, request, scanned, base);
    session.console.result(session.format.kind == OutputFormat::Kind::text
                               ? pipeline::explain(scanned, plan)
                               : plan::to_json(plan));
    return 0;
  }

private:
  PackagingOptions packaging_;
  BuildOptions build_;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() {
  return std::make_unique<ExplainCommand>();
}

}  // namespace autopack::cli
