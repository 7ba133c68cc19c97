#pragma once

#include "support/temporary_directory.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace autopack::testing {

/// A registry's login method, and whether it uses TLS.
struct RegistrySetup {
  std::string htpasswd{};  ///< lines of an htpasswd file
  std::string token_realm{};
  std::filesystem::path token_certificates{};
  std::filesystem::path certificate{};
  std::filesystem::path key{};
  std::filesystem::path client_authority{};  ///< clients must have a certificate of this authority
  bool in_memory{false};  ///< otherwise the storage is in files, and survives stop()
};

/// Debian's docker-registry on a free loopback port.
class RegistryProcess {
public:
  explicit RegistryProcess(const RegistrySetup& setup = {});
  ~RegistryProcess();
  RegistryProcess(const RegistryProcess&) = delete;
  RegistryProcess& operator=(const RegistryProcess&) = delete;

  int port() const { return port_; }

  /// Returns `127.0.0.1:PORT`.
  std::string host() const;
  void stop();
  /// Starts it on the same port, with the previous storage.
  void start();

private:
  TemporaryDirectory directory_;
  int port_{0};
  pid_t process_{-1};
};

}  // namespace autopack::testing
