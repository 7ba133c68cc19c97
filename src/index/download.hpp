#pragma once

#include "index/access.hpp"
#include "index/candidate.hpp"
#include "index/partial_file.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace autopack::index {

/// A file to download.
struct Download {
  std::string name{};                   ///< for messages
  std::string url{};                    ///< http, https or file; may contain a login
  std::vector<python::Hash> hashes{};   ///< from the lock or the index; see Verifier
  std::optional<std::uint64_t> size{};  ///< in bytes, from the lock or the index
};

/// Called with the number of bytes from the file's start. It decreases if the download starts
/// again. `total` is absent while unknown.
using DownloadProgress =
    std::function<void(std::uint64_t done, std::optional<std::uint64_t> total)>;

/// Downloads `what` into `file`, after the bytes that it already has, and returns the SHA-256 in
/// hexadecimal digits. Accepts at most `largest` bytes. Throws Error(remote) for a wrong hash or
/// size, for a server that refuses, and for a file without a hash from a host that anybody could
/// impersonate; `file` is then empty. After broken connections, the bytes stay.
std::string fetch(const Access& access,
                  const Download& what,
                  std::uint64_t largest,
                  PartialFile& file,
                  const DownloadProgress& progress);

}  // namespace autopack::index
