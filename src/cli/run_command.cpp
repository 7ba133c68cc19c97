#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/container_options.hpp"
#include "cli/packaging_options.hpp"
#include "cli/watched_run.hpp"
#include "pipeline/package.hpp"
#include "pipeline/planning.hpp"
#include "pipeline/scan.hpp"
#include "source/git.hpp"

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
    add_container_flags(flags, container_);
    flags.text("--gpus", "GPUS", container_.gpus,
               "these, as docker spells them: all, 2, device=0,2, nvidia.com/gpu=0; or none");
    flags.text("--service-account-key-file", "FILE", key_file_,
               "credentials for the program; default: yours, when there are any");
    flags.list("--docker-run-options", "OPTIONS", docker_options_, "refused: see the message");
    add_build_flags(flags, build_);
  }

  int run(Session& session) override {
    check_build_options(build_, session.flags);
    image_is_typed_ = session.flags.is_typed("--executor-image-uri");
    check_own_flags();
    is_packaged_ = is_packaged(session);
    require_executor(packaging_, build_);
    engine::ContainerSpec container;
    apply(container_, session.program_arguments, session.services.environment, container);
    mount_credentials(session.services.environment, container);
    if (const auto path = container.environment.find("PYTHONPATH");
        path != container.environment.end()) {
      python_path_ = path->second;
    }
    container.gpus = container.gpus || gpu_;
    if (container_.watch) {
      check_watched();
      return run_watched(
          session, [&] { return wanted(session); }, std::move(container));
    }
    container.image = image(session);
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
  void check_own_flags() {
    if (!docker_options_.empty()) {
      throw Error(ErrorKind::usage,
                  "`--docker-run-options` has no effect, in gcloud neither, so it is refused")
          .hint("`autopack build --no-push` makes the image for `docker run OPTIONS IMAGE`");
    }
    asks_for_image_ = std::ranges::any_of(packaging::settings, [&](const auto& setting) {
      using Role = packaging::Setting::Role;
      return (setting.role == Role::content || setting.role == Role::name) &&
             packaging_.is_given(setting);
    });
    if (asks_for_image_ && names_image_alone() && build_.no_infer) {
      throw Error(ErrorKind::usage,
                  "nothing to package: neither `--script`, `--python-module` nor `--command`")
          .hint("name the entry point, `--script train.py` or `--python-module trainer.task`")
          .hint("without packaging flags the executor image itself is run");
    }
  }

  /// Returns true for an executor image on the command line without a program.
  bool names_image_alone() const {
    return image_is_typed_ && !packaging_.has_entry() && !build_.dockerfile;
  }

  /// Returns false for an image that runs unchanged: with `--no-infer`, or if the directory has no
  /// program.
  bool is_packaged(Session& session) const {
    return !names_image_alone() || asks_for_image_ ||
           (!build_.no_infer &&
            pipeline::has_program(
                package_request(packaging_, build_, session.flags, session.services.environment)));
  }

  /// Returns the image to run: the packaged one, or the executor image unchanged.
  std::string image(Session& session) const {
    auto& services = session.services;
    if (!is_packaged_) {
      const auto name = packaging_.texts.executor_image_uri.value_or("");  // without a name, which
                                                                           // is reported
      session.console.done("Runs",
                           fmt::format("{} as it is: {}", printable(name),
                                       build_.no_infer ? "no entry point was named"
                                                       : "there is no program here to package"));
      const auto reference = image::Reference::parse(name);
      if (!services.docker().inspect(reference.text)) {
        services.docker().pull(reference, build_.platform);
      }
      return reference.text;
    }
    const auto packaged_now = wanted(session);
    tell_idle_gpus(session, packaged_now);
    return pipeline::package_for_running(services, packaged_now).image_id.value();
  }

  /// Warns if the program uses CUDA and gets none of this machine's GPUs; `--gpus=none` silences
  /// it.
  void tell_idle_gpus(Session& session, const pipeline::WantedPtr& packaged_now) const {
    if (gpu_ || !container_.gpus.empty() || find_gpus().empty()) {
      return;
    }
    if (const auto place = pipeline::find_gpu_use(session.services, packaged_now)) {
      session.console.warn(
          Problem::warning({.message = "this machine has GPUs, and the program gets none of them",
                            .hints = {"--gpus=all"},
                            .reason = fmt::format("`{}` uses CUDA", printable(*place))}));
    }
  }

  /// Returns the image to package, from the current files.
  std::shared_ptr<packaging::Wanted> wanted(Session& session) const {
    auto wanted = scan_program(session);
    pipeline::tell_inferred(session.console, wanted->inferred);
    wanted->name = image_name(packaging_, wanted->request, {});
    wanted->may_push = false;
    return wanted;
  }

  /// If several programs are possible, the unchanged image may be meant, too.
  std::shared_ptr<packaging::Wanted> scan_program(Session& session) const {
    auto request = package_request(packaging_, build_, session.flags, session.services.environment);
    request.project.python_path = python_path_;
    try {
      return pipeline::scan_wanted(request);
    } catch (Error& error) {
      if (names_image_alone() && !asks_for_image_ && !pipeline::program_choices(request).empty()) {
        error.hint("`--no-infer` runs the executor image as it is");
      }
      throw;
    }
  }

  void check_watched() const {
    if (!is_packaged_) {
      throw Error(ErrorKind::usage, "`--watch` has no files to watch: no entry point was named")
          .hint("`--script FILE` or `--python-module MODULE` names it");
    }
    if (build_.source != source::worktree_source) {
      throw Error(
          ErrorKind::usage,
          fmt::format("`--watch` looks at the files of the disk, which `--source={}` does not take",
                      printable(build_.source)));
    }
  }

  /// Mounts the key file, else the user's own credentials if they exist: mounting a missing path
  /// would create a directory there.
  void mount_credentials(const Environment& environment, engine::ContainerSpec& container) const {
    auto file = own_credentials(environment);
    if (!key_file_.empty()) {
      std::error_code failure;
      const std::filesystem::path key = expand_home(key_file_, environment);
      if (!std::filesystem::is_regular_file(key, failure)) {
        throw Error(ErrorKind::usage, fmt::format("`--service-account-key-file` `{}` is no file",
                                                  printable(key_file_)));
      }
      file = std::filesystem::canonical(key).string();
    }
    if (!file) {
      return;
    }
    container.mounts.push_back(
        {.host_path = *file, .container_path = credentials_in_container, .read_only = true});
    container.environment["GOOGLE_APPLICATION_CREDENTIALS"] = credentials_in_container;
  }

  PackagingOptions packaging_;
  BuildOptions build_;
  ContainerOptions container_;
  bool image_is_typed_{false};
  bool asks_for_image_{false};
  bool is_packaged_{true};
  bool gpu_{false};
  std::optional<std::string> python_path_;
  std::string key_file_;
  std::vector<std::string> docker_options_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() {
  return std::make_unique<RunCommand>();
}

}  // namespace autopack::cli
