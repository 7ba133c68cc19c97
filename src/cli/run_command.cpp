#include "base/error.hpp"
#include "base/file_watch.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/container_options.hpp"
#include "cli/local_gpus.hpp"
#include "cli/packaging_options.hpp"
#include "cli/signals.hpp"
#include "cli/steps.hpp"
#include "engine/docker.hpp"
#include "packaging/wanted.hpp"
#include "pipeline/package.hpp"
#include "pipeline/planning.hpp"
#include "pipeline/program_runner.hpp"
#include "pipeline/scan.hpp"
#include "pipeline/watched_project.hpp"
#include "source/git.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace autopack::cli {

namespace {

constexpr int signal_base{128};
/// How often to check for a signal.
constexpr int waiting_milliseconds{200};
/// Limit of new directories that contain further new ones; a growing tree is examined later.
constexpr int most_follows{16};

/// Reports warnings and running steps, and what was done only with `-v`.
class BriefReporter final : public Reporter {
public:
  explicit BriefReporter(Console& console) : console_{console} {}

  void done(std::string_view verb, std::string_view object) override {
    console_.detail(fmt::format("{} {}", verb, object));
  }

  void warn(const Problem& problem) override { console_.warn(problem); }

  void step(const StepEvent& event) override { console_.step(event); }

  void detail(std::string_view text) override { console_.detail(text); }

  void trace(std::string_view text) override { console_.trace(text); }

private:
  Console& console_;
};

/// Replaces the reporter of the services for its own lifetime.
class Replaced {
public:
  Replaced(Reporter*& place, Reporter* by) : place_{place}, usual_{std::exchange(place, by)} {}

  ~Replaced() { place_ = usual_; }

  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;
  Replaced(Replaced&&) = delete;
  Replaced& operator=(Replaced&&) = delete;

private:
  Reporter*& place_;
  Reporter* usual_;
};

/// The runner of a command, chosen on first use: after the project was read.
using Runner = Once<pipeline::ProgramRunner>;

class WatchedRun {
public:
  WatchedRun(Session& session,
             Runner& runner,
             const std::function<pipeline::WantedPtr()>& want,
             engine::ContainerSpec container)
      : session_{session},
        runner_{runner},
        want_{want},
        container_{std::move(container)},
        project_{session.services, want} {}

  int run() {
    make();
    for (;;) {
      if (image_ && !is_changed()) {
        start();
      }
      if (ended_by_) {
        return signal_base + *ended_by_;
      }
      while (!change_) {
        pollfd entry{watch_.descriptor(), POLLIN, 0};
        const bool may_be_changed = ::poll(&entry, 1, waiting_milliseconds) > 0;
        if (session_.services.cancellation->requested) {
          session_.console.interrupted();
          return interruption_status();
        }
        if (may_be_changed) {
          is_changed();
        }
      }
      try_to_make(*std::exchange(change_, std::nullopt));
    }
  }

private:
  /// Reports the restart in one line, unless something is wrong.
  void try_to_make(const std::string& change) {
    const auto began = Clock::now();
    try {
      make_briefly();
      session_.console.done("Restarts",
                            fmt::format("{} ({})", change, elapsed_text(Clock::now() - began)));
    } catch (const Error& error) {
      session_.console.done("Restarts", change);
      session_.console.error(error);
      session_.console.done("Waits", "for a change");
    }
  }

  void make_briefly() {
    const Replaced replaced{session_.services.reporter, &brief_};
    make();
  }

  void make() {
    image_.reset();
    seen_ = look();
    const auto before = seen_.key;
    const auto wanted = want_();
    pipeline::report_choices(session_.services, wanted.get(), wanted->inferred);
    image_ = runner_().package(wanted);
    // The facts of a newly seen image are part of the key, and known only now.
    const auto built = session_.services.build_records.get(wanted->request.project.directory,
                                                           wanted->request.options.platform);
    auto now = look();
    if (now.key == before || (built && now.key == built->image_key)) {
      seen_ = std::move(now);
    }
  }

  /// Returns the current state, and watches its directories from now on.
  pipeline::WatchedProject::Look look() {
    auto now = project_.look();
    for (int i = 0; i < most_follows && now.record && watch_.follow(now.directories); ++i) {
      now = project_.look();
    }
    return now;
  }

  bool is_changed() {
    watch_.settle();
    const auto now = look();
    if (now.key != seen_.key) {
      change_ = now.difference(seen_);
    }
    return change_.has_value();
  }

  void start() {
    container_.image = *image_;
    const auto began = Clock::now();
    const int status = runner_().run(
        container_,
        {.input = STDIN_FILENO,
         .output = [&](std::string_view bytes) { session_.console.program_output(bytes); },
         .errors = [&](std::string_view bytes) { session_.console.program_errors(bytes); },
         .watched = watch_.descriptor(),
         .stops = [&] { return is_changed(); },
         .forwarded = [&](int signal) { ended_by_ = signal; }});
    if (!change_ && !ended_by_) {
      const auto text = fmt::format("with status {} after {}; waits for a change", status,
                                    elapsed_text(Clock::now() - began));
      if (status == 0) {
        session_.console.done("Ended", text);
      } else {
        session_.console.failed("Ended", text);
      }
    }
  }

  Session& session_;
  Runner& runner_;
  std::function<pipeline::WantedPtr()> want_;
  engine::ContainerSpec container_;
  pipeline::WatchedProject project_;
  FileWatch watch_{};
  pipeline::WatchedProject::Look seen_{};  ///< the inputs of the running image
  std::optional<std::string> image_{};     ///< absent if it could not be built
  std::optional<std::string> change_{};    ///< the reported changes since then
  std::optional<int> ended_by_{};
  BriefReporter brief_{session_.console};  ///< lives on: what a restart makes may keep it
};

/// Packages the project of `want` and runs it with the options of `container`, and again whenever
/// an included file changes; stops the running program first. A signal ends it, and determines the
/// status. If packaging fails, reports it and waits for the next change; on the first run, throws.
int run_watched(Session& session,
                Runner& runner,
                const std::function<std::shared_ptr<const packaging::Wanted>()>& want,
                engine::ContainerSpec container) {
  // Its output may be a terminal, its input is not: Ctrl-C is for autopack.
  const auto& streams = session.console.streams();
  container.tty = streams.output_is_terminal && streams.errors_are_terminal;
  container.interactive = false;
  return WatchedRun{session, runner, want, std::move(container)}.run();
}

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
    mount_credentials(session, container);
    if (const auto path = container.environment.find("PYTHONPATH");
        path != container.environment.end()) {
      python_path_ = path->second;
    }
    container.gpus = container.gpus || gpu_;
    if (container.gpus && is_packaged_ && session.services.docker().is_local()) {
      device_ = local_gpu();
    }
    Runner runner{[&] {
      return std::shared_ptr{pipeline::choose_runner(session.services, engine_of(build_))};
    }};
    if (container_.watch) {
      check_watched();
      return run_watched(
          session, runner, [&] { return wanted(session); }, std::move(container));
    }
    container.image = image(session, runner);
    const auto& streams = session.console.streams();
    container.tty = streams.input_is_terminal && streams.output_is_terminal;
    container.interactive = true;
    return runner().run(
        container,
        {.input = STDIN_FILENO,
         .output = [&](std::string_view bytes) { session.console.program_output(bytes); },
         .errors = [&](std::string_view bytes) { session.console.program_errors(bytes); }});
  }

private:
  void check_own_flags() {
    if (container_.watch && container_.shell) {
      throw Error(ErrorKind::usage,
                  "`--watch` starts the program again, and `--shell` starts none: use one of them");
    }
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
  std::string image(Session& session, Runner& runner) const {
    auto& services = session.services;
    if (!is_packaged_) {
      const auto name = packaging_.texts.executor_image_uri.value_or("");  // without a name, which
                                                                           // is reported
      session.console.done("Runs",
                           fmt::format("{} as it is: {}", printable(name),
                                       build_.no_infer ? "no entry point was named"
                                                       : "there is no program here to package"));
      return runner().fetch(image::Reference::parse(name), build_.platform);
    }
    const auto packaged_now = wanted(session);
    pipeline::report_choices(services, packaged_now.get(), packaged_now->inferred);
    report_idle_gpus(session, packaged_now);
    return runner().package(packaged_now);
  }

  /// Warns if the program uses CUDA and gets none of this machine's GPUs; `--gpus=none` silences
  /// it.
  void report_idle_gpus(Session& session, const pipeline::WantedPtr& packaged_now) const {
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
    wanted->name = image_name(packaging_, wanted->request, {});
    wanted->may_push = false;
    return wanted;
  }

  /// If several programs are possible, the unchanged image may be meant, too.
  std::shared_ptr<packaging::Wanted> scan_program(Session& session) const {
    auto request = package_request(packaging_, build_, session.flags, session.services.environment);
    request.project.python_path = python_path_;
    if (device_) {
      request.devices = {*device_};
    }
    const pipeline::ReadingStep step{session.console, request};
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
  void mount_credentials(Session& session, engine::ContainerSpec& container) const {
    const auto& environment = session.services.environment;
    auto file = own_credentials(environment);
    if (!key_file_.empty()) {
      std::error_code failure;
      const std::filesystem::path key = expand_home(key_file_, environment);
      if (!std::filesystem::is_regular_file(key, failure)) {
        throw Error(ErrorKind::usage, fmt::format("`--service-account-key-file` `{}` is not a file",
                                                  printable(key_file_)));
      }
      file = std::filesystem::canonical(key).string();
    }
    if (!file) {
      return;
    }
    if (!session.services.docker().is_local()) {
      session.console.warn(Problem::warning(
          {.message = "the program gets no Google credentials",
           .hints = {"`--volume` and `--env=GOOGLE_APPLICATION_CREDENTIALS=...` name a key there"},
           .reason = fmt::format("the engine runs on another machine, which has no `{}`",
                                 printable(*file))}));
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
  std::optional<gpu::Device> device_{};  ///< the GPU that the program gets, if it is known
  std::optional<std::string> python_path_;
  std::string key_file_;
  std::vector<std::string> docker_options_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() {
  return std::make_unique<RunCommand>();
}

}  // namespace autopack::cli
