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

/// Holds bytes against the hashes that they may have. As with pip any of them suffices, so that a
/// requirement may list the hashes of several files; but md5, sha1 and sha224 count only where no
/// stronger one is named.
class Verifier {
public:
  /// Without `hashes` everything fits.
  explicit Verifier(const std::vector<python::Hash>& hashes);

  void update(std::string_view bytes);
  /// What is wrong, in words; none when a hash fits. Once only.
  std::optional<std::string> finish();

  /// The SHA-256 of the bytes in lower-case hexadecimal digits, whatever they may have; after
  /// finish().
  const std::string& sha256() const { return sha256_hex_; }

private:
  std::vector<python::Hash> expected_{};
  Sha256 sha256_{};
  std::string sha256_hex_{};
  /// Those named, in their order; none for SHA-256, which is reckoned in any case.
  std::vector<std::pair<std::string, std::optional<NamedHash>>> hashers_{};
};

}  // namespace autopack::index
