#include "engine/container.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/signal_reader.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "engine/container_request.hpp"
#include "engine/json_lines.hpp"
#include "engine/output_frames.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>

namespace autopack::engine {

namespace {

using nlohmann::json;

/// A write of so many bytes does not block if poll reports room.
constexpr std::size_t input_piece = 4096;
constexpr int state_milliseconds = 200;
constexpr std::chrono::seconds grace{1};
/// As in docker's own client, the third signal kills the container.
constexpr int patience = 3;

/// Creates and removes a container.
class Container {
public:
  Container(Api& api, const ContainerSpec& spec, bool has_input) : api_{api} {
    const std::string name = api.create_container(
        [&](const std::string& wanted) { return creation_of(api, wanted, spec, has_input); });
    path_ = "/containers/" + name;
    remove_ = api.removal_of(name);
  }

  ~Container() { api_.send_cleanup(remove_); }

  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  std::unique_ptr<http::Stream> attach(bool has_input) {
    const std::string query =
        fmt::format("/attach?stream=1&stdout=1&stderr=1&stdin={}", has_input ? 1 : 0);
    return api_.upgrade(api_.request("attach to the container", "POST", path_ + query));
  }

  void start(const ContainerSpec& spec) {
    const auto response = api_.send(api_.request("start the container", "POST", path_ + "/start"));
    if (!response.ok()) {
      throw start_error(spec, refusal_of(response));
    }
  }

  /// Returns the exit status; nothing while the container is running.
  std::optional<int> ended() {
    const auto response =
        api_.send_ok(api_.request("look at the container", "GET", path_ + "/json"));
    const auto document = parse_json(response.body);
    const auto state = document.is_object() ? document.find("State") : document.end();
    if (state == document.end() || !state->is_object()) {
      throw Error(ErrorKind::remote, "the engine does not report the container's state");
    }
    const auto status = text_at(*state, "Status");
    if (status == "running" || status == "paused" || status == "restarting") {
      return std::nullopt;
    }
    return static_cast<int>(number_at(*state, "ExitCode"));
  }

  void signal(int number) {
    // The container may have ended meanwhile, so the response does not matter.
    api_.send(
        api_.request("forward a signal", "POST", fmt::format("{}/kill?signal={}", path_, number)));
  }

  void resize(const TerminalSize& size) {
    api_.send(api_.request("resize the terminal", "POST",
                           fmt::format("{}/resize?h={}&w={}", path_, size.rows, size.columns)));
  }

private:
  static Error start_error(const ContainerSpec& spec, const std::string& refusal) {
    Error error{ErrorKind::remote, fmt::format("could not start `{}`", spec.image)};
    error.cause(refusal);
    if (refusal.find("could not select device driver") != std::string::npos) {
      error.hint("install nvidia-container-toolkit, and restart the engine");
    } else if (refusal.find("exec format error") != std::string::npos) {
      error.hint("the image is of another platform than this machine");
    }
    return error;
  }

  Api& api_;
  std::string path_;
  http::Request remove_;
};

/// Transfers data between this process and a running container.
class AttachedRun {
public:
  AttachedRun(Container& container,
              http::Stream& stream,
              const ContainerSpec& spec,
              const ContainerStreams& streams,
              SignalReader& signals)
      : container_{container},
        stream_{stream},
        streams_{streams},
        signals_{signals},
        frames_{streams.output, streams.errors},
        tty_{spec.tty},
        input_open_{spec.interactive && streams.input >= 0} {}

  void follow_size() {
    if (const auto size = tty_ ? terminal_size(streams_.input) : std::nullopt) {
      container_.resize(*size);
    }
  }

  /// Runs until the container's output ends.
  void exchange() {
    while (step()) {
    }
  }

  /// Then waits until the container itself ends.
  int wait() {
    for (;;) {
      if (const auto status = container_.ended()) {
        return *status;
      }
      std::array<pollfd, 2> entries{pollfd{signals_.descriptor(), POLLIN, 0},
                                    pollfd{watched(), POLLIN, 0}};
      ::poll(entries.data(), entries.size(), state_milliseconds);
      forward_signals();
      look_at_watched(entries[1].revents);
      end_late();
    }
  }

private:
  bool step() {
    const bool has_room_for_input = pending_.empty();
    std::array<pollfd, 4> entries{
        pollfd{stream_.descriptor(),
               static_cast<short>(POLLIN | (has_room_for_input ? 0 : POLLOUT)), 0},
        pollfd{signals_.descriptor(), POLLIN, 0},
        pollfd{input_open_ && has_room_for_input ? streams_.input : -1, POLLIN, 0},
        pollfd{watched(), POLLIN, 0}};
    if (::poll(entries.data(), entries.size(), end_at_ ? state_milliseconds : -1) < 0) {
      if (errno == EINTR) {
        return true;
      }
      throw Error(ErrorKind::environment, "cannot wait for the container");
    }
    if (entries[1].revents != 0) {
      forward_signals();
    }
    if (entries[2].revents != 0) {
      read_input();
    }
    look_at_watched(entries[3].revents);
    end_late();
    if ((entries[0].revents & POLLOUT) != 0 && !pending_.empty()) {
      write_input();
    }
    return (entries[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0 || read_output();
  }

  /// Returns -1 once the container is stopping: nothing more is reported.
  int watched() const { return end_at_ ? -1 : streams_.watched; }

  void look_at_watched(short events) {
    if (events != 0 && streams_.stops && streams_.stops()) {
      container_.signal(SIGTERM);
      end_at_ = std::chrono::steady_clock::now() + grace;
    }
  }

  /// Kills a program that ignores SIGTERM, as most do if they are the first process.
  void end_late() {
    if (end_at_ && std::chrono::steady_clock::now() >= *end_at_) {
      container_.signal(SIGKILL);
      end_at_ = std::chrono::steady_clock::now() + grace;
    }
  }

  bool read_output() {
    std::array<char, 32768> buffer{};
    const std::size_t count = stream_.read(buffer.data(), buffer.size());
    if (count > 0) {
      tty_ ? streams_.output({buffer.data(), count}) : frames_.feed({buffer.data(), count});
    }
    return count > 0;
  }

  void read_input() {
    std::array<char, input_piece> buffer{};
    const ssize_t count = ::read(streams_.input, buffer.data(), buffer.size());
    if (count > 0) {
      pending_.assign(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      input_open_ = false;
      stream_.close_write();
    }
  }

  void write_input() {
    try {
      stream_.write(pending_);
    } catch (const http::TransportError&) {
      // The program closed its input; its output may continue.
      input_open_ = false;
    }
    pending_.clear();
  }

  void forward_signals() {
    while (const auto signal = signals_.next()) {
      if (*signal == SIGWINCH) {
        follow_size();
      } else {
        ++asked_;
        if (streams_.forwarded) {
          streams_.forwarded(*signal);
        }
        container_.signal(asked_ >= patience ? SIGKILL : *signal);
      }
    }
  }

  Container& container_;
  http::Stream& stream_;
  const ContainerStreams& streams_;
  SignalReader& signals_;
  OutputFrames frames_;
  bool tty_;
  bool input_open_;
  std::string pending_;
  int asked_{0};
  std::optional<std::chrono::steady_clock::time_point> end_at_{};  ///< once it got SIGTERM
};

/// Podman would create a directory there.
void check_mounts(const Api& api, const ContainerSpec& spec) {
  for (const auto& mount : spec.mounts) {
    std::error_code ignored;
    if (!api.is_local() && api.reporter() != nullptr) {
      api.reporter()->warn(Problem::warning(
          {.message = fmt::format("the program sees `{}` of the engine's machine, not of this one",
                                  printable(mount.host_path)),
           .hints = {"copy the files there, or leave out `--volume`"},
           .reason = "the engine runs on another machine"}));
    } else if (api.is_local() && !std::filesystem::exists(mount.host_path, ignored)) {
      throw Error(ErrorKind::usage, fmt::format("`{}` does not exist", mount.host_path))
          .cause(fmt::format("the container was to see it at `{}`", mount.container_path));
    }
  }
}

}  // namespace

int run_container(Api& api,
                  const ContainerSpec& spec,
                  const ContainerStreams& streams,
                  const Cancellation* cancellation) {
  const bool has_input = spec.interactive;
  SignalReader signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
  if (cancellation != nullptr) {
    cancellation->throw_if_requested();
  }
  check_mounts(api, spec);
  Container container{api, spec, has_input};
  const auto stream = container.attach(has_input);
  container.start(spec);
  const RawTerminal raw{spec.tty && spec.interactive ? streams.input : -1};
  AttachedRun session{container, *stream, spec, streams, signals};
  session.follow_size();
  session.exchange();
  return session.wait();
}

}  // namespace autopack::engine
