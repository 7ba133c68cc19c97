#include "rootless/run.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/new_file.hpp"
#include "base/signal_reader.hpp"
#include "base/terminal.hpp"
#include "image/new_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace autopack::rootless {

namespace {

namespace fs = std::filesystem;
using engine::ContainerStreams;

constexpr std::chrono::seconds grace{1};
constexpr int state_milliseconds = 200;
/// As with an engine, the third signal kills the program.
constexpr int patience = 3;
/// A write of so many bytes does not block if poll reports room.
constexpr std::size_t input_piece = 4096;

Error cannot(const char* what) {
  return std::move(
      Error(ErrorKind::environment, fmt::format("cannot {}", what)).cause(std::strerror(errno)));
}

/// The directory of one run: what the program changes, and files that the image gets from this
/// machine, as the highest layer.
class RunDirectory {
public:
  explicit RunDirectory(const fs::path& parent) : directory_{parent / "run"} {
    // As directories of this layer, the last ones cannot be links of the image.
    for (const auto* name : {"root", "changes", "changes/upper", "changes/work", "files",
                             "files/etc", "files/dev", "files/proc", "files/sys"}) {
      const auto directory = path() / name;
      if (::mkdir(directory.c_str(), 0755) != 0 || ::chmod(directory.c_str(), 0755) != 0) {
        throw cannot("make the directory of a run");
      }
    }
    for (const auto* name : {"resolv.conf", "hosts", "hostname"}) {
      const auto text = read_file_if_exists(fs::path{"/etc"} / name);
      write_file(path() / "files" / "etc" / name, text.value_or(""));
    }
  }

  const fs::path& path() const { return directory_.path(); }

private:
  image::NewDirectory directory_;
};

/// The two ends of a pseudo terminal.
struct PseudoTerminal {
  FileDescriptor ours{-1};
  FileDescriptor programs{-1};
};

PseudoTerminal open_terminal() {
  FileDescriptor ours{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  std::array<char, 128> name{};
  if (!ours || ::grantpt(ours.get()) != 0 || ::unlockpt(ours.get()) != 0 ||
      ::ptsname_r(ours.get(), name.data(), name.size()) != 0) {
    throw cannot("open a terminal");
  }
  FileDescriptor programs{::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC)};
  if (!programs) {
    throw cannot("open a terminal");
  }
  return {std::move(ours), std::move(programs)};
}

struct Pipe {
  FileDescriptor read{-1};
  FileDescriptor write{-1};
};

Pipe open_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw cannot("make a pipe");
  }
  return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

/// Gives the program's terminal the size of the user's.
void follow_size(const FileDescriptor& terminal) {
  const auto size = users_terminal_size();
  if (terminal && size) {
    const winsize now{.ws_row = static_cast<unsigned short>(size->rows),
                      .ws_col = static_cast<unsigned short>(size->columns),
                      .ws_xpixel = 0,
                      .ws_ypixel = 0};
    ::ioctl(terminal.get(), TIOCSWINSZ, &now);
  }
}

/// Transfers data between this process and a running program.
class Attached {
public:
  Attached(ConfinedProcess& process,
           FileDescriptor terminal,
           FileDescriptor output,
           FileDescriptor errors,
           const ContainerStreams& streams,
           SignalReader& signals)
      : process_{process},
        terminal_{std::move(terminal)},
        output_{std::move(output)},
        errors_{std::move(errors)},
        streams_{streams},
        signals_{signals},
        input_open_{terminal_ && streams.input >= 0} {}

  int run() {
    while (terminal_ || output_ || errors_ || !has_ended_) {
      step();
    }
    return process_.wait();
  }

private:
  void step() {
    std::array<pollfd, 7> entries{
        pollfd{terminal_.get(), static_cast<short>(POLLIN | (pending_.empty() ? 0 : POLLOUT)), 0},
        pollfd{output_.get(), POLLIN, 0},
        pollfd{errors_.get(), POLLIN, 0},
        pollfd{signals_.descriptor(), POLLIN, 0},
        pollfd{input_open_ && pending_.empty() ? streams_.input : -1, POLLIN, 0},
        pollfd{end_at_ ? -1 : streams_.watched, POLLIN, 0},
        pollfd{has_ended_ ? -1 : process_.descriptor(), POLLIN, 0}};
    if (::poll(entries.data(), entries.size(), end_at_ ? state_milliseconds : -1) < 0) {
      if (errno == EINTR) {
        return;
      }
      throw cannot("wait for the program");
    }
    if (entries[3].revents != 0) {
      forward_signals();
    }
    if (entries[4].revents != 0) {
      read_input();
    }
    look_at_watched(entries[5].revents);
    if ((entries[0].revents & POLLOUT) != 0 && !pending_.empty()) {
      write_input();
    }
    take(entries[0], terminal_, streams_.output);
    take(entries[1], output_, streams_.output);
    take(entries[2], errors_, streams_.errors);
    has_ended_ = has_ended_ || entries[6].revents != 0;
  }

  static void take(const pollfd& entry,
                   FileDescriptor& from,
                   const std::function<void(std::string_view)>& to) {
    if ((entry.revents & (POLLIN | POLLHUP | POLLERR)) == 0) {
      return;
    }
    std::array<char, 32768> buffer{};
    const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
    if (count > 0) {
      to({buffer.data(), static_cast<std::size_t>(count)});
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      from = FileDescriptor{-1};  // a terminal without another end gives EIO
    }
  }

  void read_input() {
    constexpr char end_of_input = 4;  // Ctrl-D
    std::array<char, input_piece> buffer{};
    const ssize_t count = ::read(streams_.input, buffer.data(), buffer.size());
    if (count > 0) {
      pending_.assign(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      input_open_ = false;
      pending_.assign(1, end_of_input);
    }
  }

  void write_input() {
    const ssize_t count = ::write(terminal_.get(), pending_.data(), pending_.size());
    if (count > 0) {
      pending_.erase(0, static_cast<std::size_t>(count));
    } else if (errno != EINTR && errno != EAGAIN) {
      input_open_ = false;
      pending_.clear();
    }
  }

  void look_at_watched(short events) {
    if (events != 0 && streams_.stops && streams_.stops()) {
      process_.signal_children(SIGTERM);
      end_at_ = std::chrono::steady_clock::now() + grace;
    }
    if (end_at_ && std::chrono::steady_clock::now() >= *end_at_) {
      process_.kill();
    }
  }

  void forward_signals() {
    while (const auto signal = signals_.next()) {
      if (*signal == SIGWINCH) {
        follow_size(terminal_);
        continue;
      }
      ++asked_;
      if (streams_.forwarded) {
        streams_.forwarded(*signal);
      }
      if (asked_ >= patience) {
        process_.kill();
      } else {
        process_.signal_children(*signal);
      }
    }
  }

  ConfinedProcess& process_;
  FileDescriptor terminal_;
  FileDescriptor output_;
  FileDescriptor errors_;
  const ContainerStreams& streams_;
  SignalReader& signals_;
  bool input_open_;
  bool has_ended_{false};
  std::string pending_{};
  int asked_{0};
  std::optional<std::chrono::steady_clock::time_point> end_at_{};  ///< once it got SIGTERM
};

}  // namespace

int run(Runtime& runtime,
        const UnpackedImage& image,
        const Program& program,
        const fs::path& directory,
        const ContainerStreams& streams,
        const Cancellation* cancellation) {
  const auto runs = directory / "runs";
  sweep_leftovers(runs / "run");
  const RunDirectory own{runs};
  Overlay overlay{.directory = image.directory, .run = own.path()};
  overlay.layers.push_back("../runs/" + own.path().filename().string() + "/files");
  overlay.layers.insert(overlay.layers.end(), image.layers.rbegin(), image.layers.rend());
  auto confined = runtime.start(program, overlay.root(), own.path());
  confined.overlay = std::move(overlay);

  SignalReader signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
  if (cancellation != nullptr) {
    cancellation->throw_if_requested();
  }
  if (program.has_terminal) {
    auto terminal = open_terminal();
    follow_size(terminal.ours);
    confined.has_terminal = true;
    confined.input = confined.output = confined.errors = terminal.programs.get();
    ConfinedProcess process{confined};
    terminal.programs = FileDescriptor{-1};
    const RawTerminal raw{streams.input};
    Attached attached{
        process, std::move(terminal.ours), FileDescriptor{-1}, FileDescriptor{-1}, streams,
        signals};
    return attached.run();
  }
  auto output = open_pipe();
  auto errors = open_pipe();
  confined.input = streams.input;
  confined.output = output.write.get();
  confined.errors = errors.write.get();
  ConfinedProcess process{confined};
  output.write = FileDescriptor{-1};
  errors.write = FileDescriptor{-1};
  return Attached{
      process, FileDescriptor{-1}, std::move(output.read), std::move(errors.read), streams, signals}
      .run();
}

}  // namespace autopack::rootless
