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

/// A file that is wanted.
struct Download {
  std::string name{};                   ///< for messages
  std::string url{};                    ///< http, https or file; may hold a login
  std::vector<python::Hash> hashes{};   ///< that the lock or the index names; see Verifier
  std::optional<std::uint64_t> size{};  ///< bytes, likewise
};

/// What came, counted from the file's start; less than before when it had to start afresh. `total`
/// is none while it is not known.
using DownloadProgress =
    std::function<void(std::uint64_t done, std::optional<std::uint64_t> total)>;

/// Brings `what` into `file`, going on with what is there, and its SHA-256 in hexadecimal digits.
/// It is at most `largest` bytes. Throws Error(remote) for a wrong hash or size, for a server that
/// refuses, and for a file without a hash on a host that anybody could play; then `file` is empty.
/// What came before a connection broke for good stays.
std::string fetch(const Access& access,
                  const Download& what,
                  std::uint64_t largest,
                  PartialFile& file,
                  const DownloadProgress& progress);

}  // namespace autopack::index
