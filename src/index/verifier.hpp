#pragma once

#include "base/digest.hpp"
#include "base/named_hash.hpp"
#include "index/candidate.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::index {

/// Compares bytes with their possible hashes. Like in pip, one match suffices, so that a
/// requirement can list the hashes of several files. md5, sha1 and sha224 count only if no stronger
/// hash is given.
class Verifier {
public:
  /// Without `hashes`, all bytes match.
  explicit Verifier(const std::vector<python::Hash>& hashes);

  void update(std::string_view bytes);
  /// Returns a description of the mismatch, or nothing if a hash matches. Call it once.
  std::optional<std::string> finish();

  /// Returns the SHA-256 of the bytes in lower-case hexadecimal digits, for any hashes; valid after
  /// finish().
  const std::string& sha256() const { return sha256_hex_; }

private:
  std::vector<python::Hash> expected_{};
  Sha256 sha256_{};
  std::string sha256_hex_{};
  /// The given hashes in order. SHA-256 has no hasher here, because it is always computed.
  std::vector<std::pair<std::string, std::optional<NamedHash>>> hashers_{};
};

}  // namespace autopack::index
