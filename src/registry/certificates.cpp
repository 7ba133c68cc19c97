#include "registry/certificates.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <system_error>

namespace autopack::registry {

namespace fs = std::filesystem;

namespace {

/// Returns the first file of `directory`, by name, that ends in `suffix`, or an empty path.
fs::path first_with(const fs::path& directory, const std::string& suffix) {
  fs::path first;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator{directory, code}) {
    const fs::path& path = entry.path();
    if (path.extension() == suffix && (first.empty() || path < first)) {
      first = path;
    }
  }
  return first;
}

}  // namespace

std::vector<fs::path> certificate_directories(const Environment& environment) {
  const auto configured = environment.get("XDG_CONFIG_HOME");
  const fs::path own = configured ? fs::path{*configured} : environment.home() / ".config";
  return {"/etc/docker/certs.d", own / "docker" / "certs.d", own / "containers" / "certs.d",
          "/etc/containers/certs.d"};
}

http::Tls find_certificates(const std::vector<fs::path>& directories, const std::string& host) {
  http::Tls tls;
  // A host with a slash would lead outside the directory.
  if (host.empty() || host.find('/') != std::string::npos || host.front() == '.') {
    return tls;
  }
  for (const fs::path& directory : directories) {
    const fs::path of_host = directory / host;
    tls.ca_file = first_with(of_host, ".crt");
    tls.certificate_file = first_with(of_host, ".cert");
    if (!tls.certificate_file.empty()) {
      tls.key_file = fs::path{tls.certificate_file}.replace_extension(".key");
      std::error_code code;
      if (!fs::exists(tls.key_file, code)) {
        throw Error(ErrorKind::environment, fmt::format("the certificate `{}` has no key beside it",
                                                        tls.certificate_file.string()))
            .hint(fmt::format("put the key at `{}`", tls.key_file.string()));
      }
    }
    if (!tls.ca_file.empty() || !tls.certificate_file.empty()) {
      return tls;
    }
  }
  return tls;
}

}  // namespace autopack::registry
