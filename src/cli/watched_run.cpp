#include "cli/watched_run.hpp"

#include "base/error.hpp"
#include "base/file_watch.hpp"
#include "cli/signals.hpp"
#include "cli/steps.hpp"
#include "pipeline/package.hpp"
#include "pipeline/watched_project.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

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

class WatchedRun {
public:
  WatchedRun(Session& session,
             const std::function<pipeline::WantedPtr()>& want,
             engine::ContainerSpec container)
      : session_{session},
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
      session_.console.done("Restarts", *std::exchange(change_, std::nullopt));
      try_to_make();
    }
  }

private:
  void try_to_make() {
    try {
      make();
    } catch (const Error& error) {
      session_.console.error(error);
      session_.console.done("Waits", "for a change");
    }
  }

  void make() {
    image_.reset();
    seen_ = look();
    const auto before = seen_.key;
    const auto wanted = want_();
    image_ = pipeline::package_for_running(session_.services, wanted).image_id.value();
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
    const int status = session_.services.docker().run(
        container_,
        {.input = STDIN_FILENO,
         .output = [&](std::string_view bytes) { session_.console.program_output(bytes); },
         .errors = [&](std::string_view bytes) { session_.console.program_errors(bytes); },
         .watched = watch_.descriptor(),
         .stops = [&] { return is_changed(); },
         .forwarded = [&](int signal) { ended_by_ = signal; }});
    if (!change_ && !ended_by_) {
      session_.console.done("Ended", fmt::format("with status {} after {}; waits for a change",
                                                 status, elapsed_text(Clock::now() - began)));
    }
  }

  Session& session_;
  std::function<pipeline::WantedPtr()> want_;
  engine::ContainerSpec container_;
  pipeline::WatchedProject project_;
  FileWatch watch_{};
  pipeline::WatchedProject::Look seen_{};  ///< the inputs of the running image
  std::optional<std::string> image_{};     ///< absent if it could not be built
  std::optional<std::string> change_{};    ///< the reported changes since then
  std::optional<int> ended_by_{};
};

}  // namespace

int run_watched(Session& session,
                const std::function<std::shared_ptr<const packaging::Wanted>()>& want,
                engine::ContainerSpec container) {
  // Its output may be a terminal, its input is not: Ctrl-C is for autopack.
  const auto& streams = session.console.streams();
  container.tty = streams.output_is_terminal && streams.errors_are_terminal;
  container.interactive = false;
  return WatchedRun{session, want, std::move(container)}.run();
}

}  // namespace autopack::cli
