#include "support/registry_process.hpp"

#include "base/file.hpp"
#include "support/loopback_address.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

namespace autopack::testing {

namespace {

int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  const bool good = ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                    ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(descriptor);
  if (!good) {
    throw std::runtime_error{"no free port"};
  }
  return ntohs(address.sin_port);
}

bool listens(int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const bool good =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(descriptor);
  return good;
}

std::string config_of(const RegistrySetup& setup, const std::filesystem::path& root, int port) {
  const std::string storage =
      setup.in_memory ? "inmemory: {}"
                      : "filesystem: {rootdirectory: " + (root / "storage").string() + "}";
  std::string text = fmt::format(
      "version: 0.1\nlog:\n  level: error\n  accesslog:\n    disabled: true\n"
      "storage:\n  {}\n  delete:\n    enabled: true\n"
      "http:\n  addr: 127.0.0.1:{}\n  secret: loopback\n",
      storage, port);
  if (!setup.certificate.empty()) {
    text += fmt::format("  tls:\n    certificate: {}\n    key: {}\n", setup.certificate.string(),
                        setup.key.string());
  }
  if (!setup.client_authority.empty()) {
    text += fmt::format("    clientcas:\n      - {}\n", setup.client_authority.string());
  }
  if (!setup.htpasswd.empty()) {
    write_file(root / "htpasswd", setup.htpasswd);
    text += fmt::format("auth:\n  htpasswd:\n    realm: test\n    path: {}\n",
                        (root / "htpasswd").string());
  }
  if (!setup.token_realm.empty()) {
    text += fmt::format(
        "auth:\n  token:\n    realm: {}\n    service: test-registry\n    issuer: test-issuer\n"
        "    rootcertbundle: {}\n",
        setup.token_realm, setup.token_certificates.string());
  }
  return text;
}

}  // namespace

RegistryProcess::RegistryProcess(const RegistrySetup& setup) : port_{free_port()} {
  write_file(directory_.path() / "config.yml", config_of(setup, directory_.path(), port_));
  start();
}

RegistryProcess::~RegistryProcess() {
  stop();
}

std::string RegistryProcess::host() const {
  return fmt::format("127.0.0.1:{}", port_);
}

void RegistryProcess::stop() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }
}

void RegistryProcess::start() {
  std::string program = "docker-registry";
  std::string verb = "serve";
  std::string config = (directory_.path() / "config.yml").string();
  const std::string log = (directory_.path() / "log").string();
  const std::array<char*, 4> arguments{program.data(), verb.data(), config.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  const int code =
      ::posix_spawnp(&process_, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) {
    throw std::runtime_error{"docker-registry cannot be started; apt-get install docker-registry"};
  }
  for (int i = 0; i < 1000 && !listens(port_); ++i) {
    if (::waitpid(process_, nullptr, WNOHANG) == process_) {
      process_ = -1;
      throw std::runtime_error{"docker-registry ended: " + read_file(log)};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  if (!listens(port_)) {
    throw std::runtime_error{"docker-registry does not listen"};
  }
}

}  // namespace autopack::testing
