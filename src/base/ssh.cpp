#include "base/ssh.hpp"

#include "base/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace autopack {

namespace {

constexpr std::string_view ssh_scheme{"ssh://"};

/// ssh keeps an ignored signal ignored.
constexpr auto* ignore_interrupts = R"(trap '' INT QUIT; exec "$@")";

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

/// Returns the words of ssh for the address.
std::vector<std::string> ssh_target(const SshAddress& address) {
  std::vector<std::string> words;
  if (address.user) {
    words.insert(words.end(), {"-l", *address.user});
  }
  if (address.port) {
    words.insert(words.end(), {"-p", std::to_string(*address.port)});
  }
  words.insert(words.end(), {"--", address.host});
  return words;
}

/// `ssh -G` prints the configuration for a host, and connects to nothing.
bool has_own_control_path(const SshAddress& address) {
  std::vector<std::string> words{"ssh", "-G"};
  const auto target = ssh_target(address);
  words.insert(words.end(), target.begin(), target.end());
  const auto printed = run_process(words, "", {.timeout = std::chrono::seconds{10}});
  return printed && printed->status == 0 &&
         ("\n" + printed->output).find("\ncontrolpath ") != std::string::npos;
}

std::string control_path(const SharedLogin& login) {
  return "ControlPath=" + (login.directory / "master").string();
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

std::string ssh_text(const SshAddress& address) {
  return fmt::format("ssh {}{}{}",
                     address.port ? fmt::format("-p {} ", *address.port) : std::string{},
                     address.user ? *address.user + "@" : std::string{}, address.host);
}

std::vector<std::string> ssh_command(const SshAddress& address, const SharedLogin& login) {
  std::vector<std::string> words{"/bin/sh",
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
  if (!has_own_control_path(address)) {
    const auto idle = login.idle.count() > 0 ? std::to_string(login.idle.count()) : "no";
    words.insert(words.end(), {"-o", "ControlMaster=auto", "-o", "ControlPersist=" + idle, "-o",
                               control_path(login)});
  }
  const auto target = ssh_target(address);
  words.insert(words.end(), target.begin(), target.end());
  return words;
}

void end_shared_login(const SshAddress& address, const SharedLogin& login) {
  std::vector<std::string> words{"ssh", "-o", control_path(login), "-O", "exit"};
  const auto target = ssh_target(address);
  words.insert(words.end(), target.begin(), target.end());
  run_process(words, "", {.timeout = std::chrono::seconds{10}});
}

}  // namespace autopack
