#include "cli/detached.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

namespace autopack::cli {

namespace {

/// Its value is the descriptor at which the typed process waits.
constexpr const char* marker = "_AUTOPACK_WAITING";

Error cannot_start(int code) {
  return Error(ErrorKind::environment, "cannot start the process that runs the job")
      .cause(std::strerror(code));
}

/// Returns this process's command line, as typed.
std::vector<std::string> own_arguments() {
  auto words = split(read_file("/proc/self/cmdline", FileSort::any), '\0');
  if (!words.empty() && words.back().empty()) {
    words.pop_back();
  }
  return words;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) {
    all.push_back(word.data());
  }
  all.push_back(nullptr);
  return all;
}

pid_t start_again(int waiting) {
  auto words = own_arguments();
  const auto arguments = pointers(words);
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    variables.emplace_back(*each);
  }
  variables.push_back(std::string{marker} + "=" + std::to_string(waiting));
  const auto environment = pointers(variables);
  pid_t child = 0;
  const int code = ::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(),
                                 environment.data());
  if (code != 0) {
    throw cannot_start(code);
  }
  return child;
}

/// Waits for the other process; returns true if it reported. Leaves an interruption to the other
/// one, which has the same terminal until then.
bool hears(int descriptor) {
  char word = 0;
  ssize_t count = 0;
  do {
    count = ::read(descriptor, &word, 1);
  } while (count < 0 && errno == EINTR);
  return count == 1;
}

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::optional<int> Detached::leave_to_another(Services& services) {
  if (const auto text = services.environment.get(marker)) {
    int descriptor = -1;
    std::from_chars(text->data(), text->data() + text->size(), descriptor);
    waiting_ = FileDescriptor{descriptor};
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return std::nullopt;
  }
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw cannot_start(errno);
  }
  const FileDescriptor reading{ends[0]};
  FileDescriptor writing{ends[1]};
  ::fcntl(writing.get(), F_SETFD, 0);
  const auto child = start_again(writing.get());
  writing.close();
  return hears(reading.get()) ? 0 : status_of(child);
}

void Detached::let_go() {
  if (!waiting_) {
    return;
  }
  ::setsid();
  std::signal(SIGHUP, SIG_IGN);
  const FileDescriptor nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(nothing.get(), standard);
  }
  static_cast<void>(::write(waiting_.get(), "1", 1) < 0);
  waiting_.close();
}

}  // namespace autopack::cli
