#include "base/started_process.hpp"

#include "base/error.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace autopack {

namespace {

constexpr std::size_t most_errors{65'536};
constexpr std::size_t longest_message{2000};

/// Returns a file in memory that cannot grow: a program may print without end.
FileDescriptor make_errors_file() {
  FileDescriptor file{::memfd_create("errors", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!file || ::ftruncate(file.get(), most_errors) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
    throw Error(ErrorKind::environment, "cannot make a file in memory").cause(std::strerror(errno));
  }
  return file;
}

}  // namespace

StartedProcess::StartedProcess(const std::vector<std::string>& argv, int stream, bool own_session)
    : errors_{make_errors_file()} {
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  if (stream < 0) {
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
  } else {
    posix_spawn_file_actions_adddup2(&actions, stream, 0);
    posix_spawn_file_actions_adddup2(&actions, stream, 1);
  }
  posix_spawn_file_actions_adddup2(&actions, errors_.get(), 2);
  const int code =
      ::posix_spawnp(&pid_, argv.front().c_str(), &actions, SpawnAttributes{own_session}.get(),
                     pointers_to(argv).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) {
    throw Error(ErrorKind::environment, fmt::format("cannot run `{}`", argv.front()))
        .cause(std::strerror(code));
  }
}

StartedProcess::~StartedProcess() {
  status();
}

std::optional<int> StartedProcess::status() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return status_;
}

std::string StartedProcess::last_errors() const {
  constexpr std::size_t most_lines{4};
  std::string text(most_errors, '\0');
  const auto count = ::pread(errors_.get(), text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  text.resize(std::min(text.find('\0'), text.size()));
  std::vector<std::string> lines;
  for (const auto& line : split(text, '\n')) {
    if (!trim(line).empty()) {
      lines.push_back(printable(trim(line)));
    }
  }
  if (lines.size() > most_lines) {
    lines.erase(lines.begin(), lines.end() - most_lines);
  }
  return join(lines, "; ").substr(0, longest_message);
}

}  // namespace autopack
