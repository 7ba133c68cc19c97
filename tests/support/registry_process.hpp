#pragma once

#include "support/temporary_directory.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace autopack::testing {

/// How a registry asks for logins, and whether it speaks TLS.
struct RegistrySetup {
  std::string htpasswd{};  ///< lines of an htpasswd file
  std::string token_realm{};
  std::filesystem::path token_certificates{};
  std::filesystem::path certificate{};
  std::filesystem::path key{};
  std::filesystem::path client_authority{};  ///< clients must have a certificate of it
  bool in_memory{false};                     ///< else the storage is in files, and outlives stop()
};

/// Debian's docker-registry on a free loopback port.
class RegistryProcess {
public:
  explicit RegistryProcess(const RegistrySetup& setup = {});
  ~RegistryProcess();
  RegistryProcess(const RegistryProcess&) = delete;
  RegistryProcess& operator=(const RegistryProcess&) = delete;

  int port() const { return port_; }

  /// `127.0.0.1:PORT`.
  std::string host() const;
  void stop();
  /// On the same port, with the storage of before.
  void start();

private:
  TemporaryDirectory directory_;
  int port_{0};
  pid_t process_{-1};
};

}  // namespace autopack::testing
