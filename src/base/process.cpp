#include "base/process.hpp"

#include "base/broken_pipe.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

namespace autopack {

namespace {

struct Pipe {
  std::array<int, 2> ends{-1, -1};

  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw Error(ErrorKind::environment, "cannot make a pipe").cause(std::strerror(errno));
    }
  }

  ~Pipe() {
    close_end(0);
    close_end(1);
  }

  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_end(std::size_t which) {
    if (ends.at(which) >= 0) {
      ::close(ends.at(which));
      ends.at(which) = -1;
    }
  }
};

void take(Pipe& pipe, std::string& text) {
  std::array<char, 16384> buffer{};
  const ssize_t count = ::read(pipe.ends[0], buffer.data(), buffer.size());
  if (count > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    pipe.close_end(0);
  }
}

/// The time limit of a program.
class Patience {
public:
  Patience(std::chrono::milliseconds timeout, const Cancellation* cancellation)
      : cancellation_{cancellation} {
    if (timeout.count() > 0) {
      end_ = Clock::now() + timeout;
    }
  }

  bool is_over() const {
    return (cancellation_ != nullptr && cancellation_->requested) ||
           (end_ != Clock::time_point::max() && Clock::now() >= end_);
  }

  /// Returns the timeout in milliseconds for poll(), after which is_over() may have changed; -1 if
  /// it cannot change.
  int next_look() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now());
    const bool has_end = end_ != Clock::time_point::max();
    if (cancellation_ == nullptr) {
      return has_end ? static_cast<int>(std::max<std::int64_t>(left.count(), 0)) : -1;
    }
    constexpr std::int64_t look_at_user = 50;  // a cancellation does not wake up poll()
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, look_at_user));
  }

private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point end_{Clock::time_point::max()};
  const Cancellation* cancellation_;
};

enum class End { itself, too_late, too_much };

/// Writes the input and collects what the program prints.
End exchange(Pipe& input,
             Pipe& output,
             Pipe& errors,
             std::string_view rest,
             const Patience& patience,
             ProcessResult& result) {
  if (rest.empty()) {
    input.close_end(1);
  }
  while (output.ends[0] >= 0 || errors.ends[0] >= 0 || input.ends[1] >= 0) {
    std::array<pollfd, 3> fds{pollfd{input.ends[1], POLLOUT, 0}, pollfd{output.ends[0], POLLIN, 0},
                              pollfd{errors.ends[0], POLLIN, 0}};
    const int ready = ::poll(fds.data(), fds.size(), patience.next_look());
    if (patience.is_over()) {
      return End::too_late;
    }
    if (ready == 0 || (ready < 0 && errno == EINTR)) {
      continue;
    }
    if (ready < 0) {
      return End::itself;
    }
    if (fds[0].revents != 0) {
      const ssize_t count =
          ::write(input.ends[1], rest.data(), std::min<std::size_t>(rest.size(), 4096));
      if (count > 0) {
        rest.remove_prefix(static_cast<std::size_t>(count));
      }
      if (rest.empty() || (count < 0 && errno != EINTR)) {
        input.close_end(1);
      }
    }
    if (fds[1].revents != 0) {
      take(output, result.output);
    }
    if (fds[2].revents != 0) {
      take(errors, result.errors);
    }
    if (result.output.size() + result.errors.size() > largest_text) {
      return End::too_much;
    }
  }
  return End::itself;
}

/// Returns the variables of a program: this process's own if it inherits them, overridden by those
/// of `options`.
std::vector<std::string> variables_for(const ProcessOptions& options) {
  std::vector<std::string> variables;
  for (char** entry = environ; options.inherits && entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text{*entry};
    if (!options.environment.contains(text.substr(0, text.find('=')))) {
      variables.push_back(text);
    }
  }
  for (const auto& [name, value] : options.environment) {
    variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

/// Starts `argv` with ends of these pipes as its standard descriptors. Returns nothing if the
/// program does not exist.
std::optional<pid_t> start(const std::vector<std::string>& argv,
                           const ProcessOptions& options,
                           Pipe& in,
                           Pipe& out,
                           Pipe& err) {
  const auto variables = variables_for(options);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], 2);
  pid_t pid = 0;
  const int code = ::posix_spawnp(&pid, argv[0].c_str(), &actions, SpawnAttributes{}.get(),
                                  pointers_to(argv).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (code == ENOENT) {
    return std::nullopt;
  }
  if (code != 0) {
    throw Error(ErrorKind::environment, fmt::format("cannot run `{}`", argv[0]))
        .cause(std::strerror(code));
  }
  in.close_end(0);
  out.close_end(1);
  err.close_end(1);
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::optional<ProcessResult> run_process(const std::vector<std::string>& argv,
                                         const std::string& input,
                                         const ProcessOptions& options) {
  Pipe in;
  Pipe out;
  Pipe err;
  const auto pid = start(argv, options, in, out, err);
  if (!pid) {
    return std::nullopt;
  }
  ProcessResult result;
  End end = End::itself;
  {
    const BrokenPipeGuard guard;  // for a child that does not read its input
    end = exchange(in, out, err, input, Patience{options.timeout, options.cancellation}, result);
  }
  if (end != End::itself) {
    ::kill(*pid, SIGKILL);
  }
  result.status = wait_for(*pid);
  if (end == End::too_much) {
    throw Error(ErrorKind::environment, fmt::format("`{}` printed too much", argv[0]))
        .cause(fmt::format("more than {} were read", human_size(largest_text)));
  }
  if (end == End::too_late && options.cancellation != nullptr) {
    options.cancellation->throw_if_requested();
  }
  if (end == End::too_late) {
    throw Error(ErrorKind::environment,
                fmt::format("`{}` has not ended within {} ms", argv[0], options.timeout.count()));
  }
  return result;
}

std::optional<std::string> find_program(const std::string& name, const std::string& path) {
  for (const auto& directory : split(path, ':')) {
    const std::filesystem::path program = std::filesystem::path{directory} / name;
    std::error_code code;
    if (!directory.empty() && std::filesystem::is_regular_file(program, code) &&
        ::access(program.c_str(), X_OK) == 0) {
      return program.string();
    }
  }
  return std::nullopt;
}

}  // namespace autopack
