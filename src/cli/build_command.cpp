#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/packaging_options.hpp"

namespace autopack::cli {

namespace {

class BuildCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    add_packaging_flags(flags, packaging_);
    add_build_flags(flags, build_);
    add_output_flag(flags, build_);
    flags.toggle("--no-push", no_push_, "leave the image in the daemon");
  }

  int run(Session& session) override {
    check_build_options(build_);
    require_executor(packaging_, build_);
    auto request = package_request(packaging_, build_, session.services.environment);
    request.tells_git = session.format.kind != OutputFormat::Kind::text;
    const auto scanned = pipeline::scan(request);
    const auto job_name = cli::job_name(packaging_.display_name, request.project.directory);
    const auto name =
        pipeline::name_image(packaging_.output_image, job_name, find_location(session));
    // A default name is no wish for a registry when the image goes elsewhere.
    const bool push = !no_push_ && (build_.outputs.empty() || !packaging_.output_image.empty());
    const auto image = pipeline::package(session.services, request, scanned, name,
                                         push ? pipeline::Push::yes : pipeline::Push::no);
    session.console.result(render(session.format, pipeline::to_json(image), image.uri()));
    return 0;
  }

private:
  PackagingOptions packaging_;
  BuildOptions build_;
  bool no_push_{false};
};

}  // namespace

std::unique_ptr<Command> make_build_command() {
  return std::make_unique<BuildCommand>();
}

}  // namespace autopack::cli
