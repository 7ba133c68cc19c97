#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/packaging_options.hpp"
#include "pipeline/package.hpp"
#include "pipeline/planning.hpp"
#include "pipeline/scan.hpp"

namespace autopack::cli {

namespace {

class BuildCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    add_packaging_flags(flags, packaging_);
    add_build_flags(flags, build_);
    add_builder_flags(flags, build_);
    add_attest_flags(flags, build_);
    add_output_flag(flags, build_);
    add_sbom_flag(flags, build_);
    flags.toggle("--no-push", no_push_, "leave the image in the docker engine");
  }

  int run(Session& session) override {
    const auto platforms = platforms_of(session.flags, build_);
    check_build_options(build_);
    if (platforms.size() > 1 && !build_.sboms.empty()) {
      throw Error(ErrorKind::usage,
                  "`--sbom` describes one image, and `--platform` names several platforms")
          .hint("build each platform by itself: its image is then reused");
    }
    std::vector<pipeline::WantedPtr> all;
    for (const auto& platform : platforms) {
      build_.platform = platform;
      all.push_back(wanted(session, all.empty()));
    }
    if (all.size() == 1) {
      const auto image = pipeline::package(session.services, all.front());
      session.console.result(render(session, packaging::to_json(image), image.uri()));
    } else {
      const auto index = pipeline::package_index(session.services, all);
      session.console.result(render(session, pipeline::to_json(index), index.uri()));
    }
    return 0;
  }

private:
  pipeline::WantedPtr wanted(Session& session, bool is_first) const {
    require_executor(packaging_, build_);
    auto request = package_request(packaging_, build_, session.flags, session.services.environment);
    choose_cloud_build(build_, request);
    request.reports_git = request.reports_git || session.format.kind != OutputFormat::Kind::text;
    auto wanted = [&] {
      const pipeline::ReadingStep step{session.console, request};
      return pipeline::scan_wanted(std::move(request));
    }();
    if (is_first) {
      pipeline::report_choices(session.services, wanted.get(), wanted->inferred);
    }
    wanted->name = image_name(packaging_, wanted->request, find_location(session));
    // A default name does not request a push if the image goes elsewhere.
    wanted->may_push = !no_push_ && (build_.outputs.empty() || packaging_.texts.output_image_uri);
    return wanted;
  }

  PackagingOptions packaging_;
  BuildOptions build_;
  bool no_push_{false};
};

}  // namespace

std::unique_ptr<Command> make_build_command() {
  return std::make_unique<BuildCommand>();
}

}  // namespace autopack::cli
