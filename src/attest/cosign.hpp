#pragma once

#include "services/services.hpp"

#include <string>
#include <vector>

namespace autopack::attest {

/// Signs statements with the program `cosign`, with a key in a file or in a KMS. cosign sends
/// nothing but the KMS's own requests: no transparency log, no registry.
class Cosign {
public:
  /// `key` is a path or a URI (`gcpkms://...`), as `cosign --key` accepts it. Throws
  /// Error(environment) if there is no cosign, Error(usage) if the file `key` does not exist.
  Cosign(Services& services, std::string key);

  /// Returns the sigstore bundle of `statement`, which is JSON. Throws Error(environment) with
  /// cosign's message if it fails, and Interrupted.
  std::string sign(const std::string& statement);

  /// Returns the public key of the key in PEM form. Throws like sign().
  std::string public_key();

private:
  std::string run(const std::vector<std::string>& words, const std::string& what);

  Services& services_;
  std::string program_;
  std::string key_;
};

}  // namespace autopack::attest
