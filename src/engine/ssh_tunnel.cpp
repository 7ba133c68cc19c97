#include "engine/ssh_tunnel.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

namespace autopack::engine {

namespace {

constexpr int most_waiting{64};  ///< connections without an ssh yet

FileDescriptor listen_at(const std::filesystem::path& path) {
  FileDescriptor listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string text = path.string();
  text.copy(address.sun_path, sizeof address.sun_path - 1);
  if (!listener || text.size() >= sizeof address.sun_path ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), most_waiting) != 0) {
    throw Error(ErrorKind::environment, fmt::format("cannot listen at `{}`", text))
        .cause(std::strerror(errno));
  }
  return listener;
}

}  // namespace

std::string SshTunnel::socket() {
  const std::scoped_lock lock{mutex_};
  if (!directory_) {
    auto directory = std::make_unique<ScratchDirectory>("ssh");
    listener_ = listen_at(directory->path() / "engine");
    directory_ = std::move(directory);
    thread_ = std::thread{[this] { serve(); }};
  }
  return (directory_->path() / "engine").string();
}

SshTunnel::~SshTunnel() {
  if (thread_.joinable()) {
    ::shutdown(listener_.get(), SHUT_RDWR);  // ends accept()
    thread_.join();
  }
}

void SshTunnel::serve() {
  for (;;) {
    const FileDescriptor connection{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    if (connection) {
      connect(connection.get());
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

/// Gives `connection` to a new ssh. Without one, the connection just ends.
void SshTunnel::connect(int connection) {
  try {
    if (words_.empty()) {
      words_ = ssh_command(address_, {.directory = directory_->path()});
      words_.emplace_back("docker");
      if (address_.socket) {
        words_.insert(words_.end(), {"--host", shell_quote("unix://" + *address_.socket)});
      }
      words_.insert(words_.end(), {"system", "dial-stdio"});
    }
    auto process = std::make_unique<StartedProcess>(words_, connection);
    const std::scoped_lock lock{mutex_};
    std::erase_if(processes_, [](const auto& old) { return old->status().has_value(); });
    processes_.push_back(std::move(process));
    start_failure_.reset();
  } catch (const Error& error) {
    const std::scoped_lock lock{mutex_};
    start_failure_ = error.message();
  }
}

std::optional<std::string> SshTunnel::failure() {
  constexpr int most_looks{20};
  constexpr std::chrono::milliseconds between_looks{50};
  for (int i = 0; i < most_looks; ++i) {
    {
      const std::scoped_lock lock{mutex_};
      const auto status = processes_.empty() ? std::nullopt : processes_.back()->status();
      if (start_failure_ || status) {
        const auto text = start_failure_.value_or(status ? processes_.back()->last_errors() : "");
        return text.empty() ? fmt::format("ssh ended with status {}", *status) : text;
      }
    }
    std::this_thread::sleep_for(between_looks);
  }
  return std::nullopt;
}

}  // namespace autopack::engine
