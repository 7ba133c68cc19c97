#include "base/signal_reader.hpp"

#include "base/error.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace autopack {

SignalReader::SignalReader(std::initializer_list<int> signals) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : signals) {
    sigaddset(&wanted, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &wanted, &before_);
  descriptor_ = ::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor_ < 0) {
    const int code = errno;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    throw Error(ErrorKind::environment, "cannot watch for signals").cause(std::strerror(code));
  }
}

SignalReader::~SignalReader() {
  // A signal that came too late for the container must not act on this process either.
  while (next()) {
  }
  ::close(descriptor_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> SignalReader::next() const {
  signalfd_siginfo info{};
  const auto count = ::read(descriptor_, &info, sizeof info);
  if (count != static_cast<ssize_t>(sizeof info)) {
    return std::nullopt;
  }
  return static_cast<int>(info.ssi_signo);
}

}  // namespace autopack
