#include "engine/ssh_tunnel.hpp"

#include "base/error.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

namespace autopack::engine {

namespace {

constexpr std::string_view ssh_scheme{"ssh://"};
constexpr int most_waiting{64};  ///< connections without an ssh yet

/// Ctrl-C at the terminal is for autopack, which still needs its connections for cleaning up. ssh
/// keeps an ignored signal ignored.
constexpr auto* ignore_interrupts = R"(trap '' INT QUIT; exec "$@")";

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

bool is_word(std::string_view text) {
  return !text.empty() && text.front() != '-' && std::ranges::none_of(text, [](char c) {
    return c <= ' ' || c == '\x7f' || c == '"' || c == '\'' || c == '`' || c == '\\' || c == '$' ||
           c == '?' || c == '#' || c == '%';
  });
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool is_number = result.ec == std::errc{} && result.ptr == text.data() + text.size();
  return is_number && port > 0 ? std::optional{port} : std::nullopt;
}

}  // namespace

std::optional<SshAddress> parse_ssh_address(std::string_view url) {
  if (!url.starts_with(ssh_scheme)) {
    return std::nullopt;
  }
  auto place = url.substr(ssh_scheme.size());
  SshAddress address;
  if (const auto slash = place.find('/'); slash != std::string_view::npos) {
    const auto path = place.substr(slash);
    place = place.substr(0, slash);
    if (path != "/") {
      if (!is_word(path)) {
        return std::nullopt;
      }
      address.socket = path;
    }
  }
  if (const auto at = place.rfind('@'); at != std::string_view::npos) {
    const auto user = place.substr(0, at);
    place = place.substr(at + 1);
    if (!is_word(user) || user.find(':') != std::string_view::npos) {
      return std::nullopt;
    }
    address.user = user;
  }
  const auto bracket = place.rfind(']');
  const auto colon = place.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    address.port = parse_port(place.substr(colon + 1));
    place = place.substr(0, colon);
    if (!address.port) {
      return std::nullopt;
    }
  }
  if (place.starts_with('[') && place.ends_with(']')) {
    place = place.substr(1, place.size() - 2);
  }
  if (!is_word(place)) {
    return std::nullopt;
  }
  address.host = place;
  return address;
}

std::vector<std::string> SshTunnel::target() const {
  std::vector<std::string> words;
  if (address_.user) {
    words.insert(words.end(), {"-l", *address_.user});
  }
  if (address_.port) {
    words.insert(words.end(), {"-p", std::to_string(*address_.port)});
  }
  words.insert(words.end(), {"--", address_.host});
  return words;
}

std::string SshTunnel::command() const {
  return fmt::format("ssh {}{}{}",
                     address_.port ? fmt::format("-p {} ", *address_.port) : std::string{},
                     address_.user ? *address_.user + "@" : std::string{}, address_.host);
}

/// `ssh -G` prints the configuration for a host, and connects to nothing.
bool SshTunnel::has_own_control_path() const {
  std::vector<std::string> words{"ssh", "-G"};
  const auto place = target();
  words.insert(words.end(), place.begin(), place.end());
  const auto printed = run_process(words, "", {.timeout = std::chrono::seconds{10}});
  return printed && printed->status == 0 &&
         ("\n" + printed->output).find("\ncontrolpath ") != std::string::npos;
}

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
      words_ = {"/bin/sh",
                "-c",
                ignore_interrupts,
                "sh",
                "ssh",
                "-T",
                "-o",
                "ConnectTimeout=30",
                "-o",
                "RemoteCommand=none",
                "-o",
                "ClearAllForwardings=yes"};
      if (!has_own_control_path()) {
        words_.insert(words_.end(), {"-o", "ControlMaster=auto", "-o", "ControlPersist=no", "-o",
                                     "ControlPath=" + (directory_->path() / "master").string()});
      }
      const auto place = target();
      words_.insert(words_.end(), place.begin(), place.end());
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
