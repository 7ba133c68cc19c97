#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/packaging_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace autopack::cli {

namespace {

constexpr auto* credentials_in_container = "/tmp/keys/cred_key.json";

class RunCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    add_packaging_flags(flags, packaging_);
    flags.section("Running");
    flags.toggle("--gpu", gpu_, "give the program all GPUs");
    flags.text("--gpus", "all", gpus_, "the same, as docker spells it");
    flags.text("--service-account-key-file", "FILE", key_file_,
               "credentials for the program; default: yours, when there are any");
    flags.list("--docker-run-options", "OPTIONS", docker_options_, "refused: see the message");
    add_build_flags(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_);
    check_own_flags();
    require_executor(packaging_, build_);
    engine::ContainerSpec container;
    mount_credentials(session.services.environment, container);
    container.image = image(session);
    container.arguments = session.program_arguments;
    container.gpus = gpu_ || gpus_ == "all";
    const auto& streams = session.console.streams();
    container.tty = streams.input_is_terminal && streams.output_is_terminal;
    container.interactive = true;
    return session.services.docker().run(
        container,
        {.input = STDIN_FILENO,
         .output = [&](std::string_view bytes) { session.console.program_output(bytes); },
         .errors = [&](std::string_view bytes) { session.console.program_errors(bytes); }});
  }

private:
  void check_own_flags() const {
    if (!gpus_.empty() && gpus_ != "all") {
      throw Error(ErrorKind::usage, fmt::format("`{}` is no value of `--gpus`", printable(gpus_)))
          .hint("`--gpus all` gives the program every GPU");
    }
    if (!docker_options_.empty()) {
      throw Error(ErrorKind::usage,
                  "`--docker-run-options` has no effect, in gcloud neither, so it is refused")
          .hint("`autopack build --no-push` makes the image for `docker run OPTIONS IMAGE`");
    }
    const bool asks_for_image =
        !packaging_.requirements.empty() || !packaging_.extra_packages.empty() ||
        !packaging_.extra_dirs.empty() || !packaging_.system_packages.empty() ||
        !packaging_.requirement_files.empty() || !packaging_.package_extras.empty() ||
        !packaging_.groups.empty() || !packaging_.build_environment.empty() ||
        !packaging_.launcher.empty() || !packaging_.include.empty() ||
        !packaging_.exclude.empty() || !packaging_.output_image.empty();
    if (!packaged() && asks_for_image) {
      throw Error(ErrorKind::usage,
                  "nothing to package: neither `--script`, `--python-module` nor `--command`")
          .hint("name the entry point, `--script train.py` or `--python-module trainer.task`")
          .hint("without packaging flags the executor image itself is run");
    }
  }

  bool packaged() const { return packaging_.has_entry() || !build_.dockerfile.empty(); }

  /// What is run: the packaged image, or the executor image as it is.
  std::string image(Session& session) const {
    auto& services = session.services;
    if (!packaged()) {
      const auto reference = image::Reference::parse(packaging_.executor_image);
      if (!services.docker().inspect(reference.text)) {
        services.docker().pull(reference, build_.platform);
      }
      return reference.text;
    }
    const auto request = package_request(packaging_, build_, services.environment);
    const auto scanned = pipeline::scan(request);
    const auto job_name = cli::job_name(packaging_.display_name, request.project.directory);
    const auto name = pipeline::name_image(packaging_.output_image, job_name, {});
    return pipeline::package_for_running(services, request, scanned, name).image_id;
  }

  /// The key file, else the user's own credentials when they exist: mounting a path that does not
  /// would make a directory there.
  void mount_credentials(const Environment& environment, engine::ContainerSpec& container) const {
    std::filesystem::path file = expand_home(key_file_, environment);
    if (key_file_.empty()) {
      file = environment.get("GOOGLE_APPLICATION_CREDENTIALS")
                 .value_or((environment.gcloud_directory() / "application_default_credentials.json")
                               .string());
    }
    std::error_code failure;
    if (!std::filesystem::is_regular_file(file, failure)) {
      if (!key_file_.empty()) {
        throw Error(ErrorKind::usage, fmt::format("`--service-account-key-file` `{}` is no file",
                                                  printable(key_file_)));
      }
      return;
    }
    container.mounts.push_back({.host_path = std::filesystem::canonical(file).string(),
                                .container_path = credentials_in_container,
                                .read_only = true});
    container.environment["GOOGLE_APPLICATION_CREDENTIALS"] = credentials_in_container;
  }

  PackagingOptions packaging_;
  BuildOptions build_;
  bool gpu_{false};
  std::string gpus_;
  std::string key_file_;
  std::vector<std::string> docker_options_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() {
  return std::make_unique<RunCommand>();
}

}  // namespace autopack::cli
