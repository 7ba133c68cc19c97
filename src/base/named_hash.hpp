#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace autopack {

/// A hash by its name in package indexes and locks: md5, sha1, sha224, sha256, sha384 or sha512.
class NamedHash {
public:
  /// Returns nothing for any other name.
  static std::optional<NamedHash> make(std::string_view name);

  ~NamedHash();
  NamedHash(NamedHash&&) noexcept;
  NamedHash& operator=(NamedHash&&) noexcept;
  NamedHash(const NamedHash&) = delete;
  NamedHash& operator=(const NamedHash&) = delete;

  void update(std::string_view bytes);
  /// Returns the hash of all bytes so far in lower-case hexadecimal digits; call it once.
  std::string finish();

private:
  struct State;

  explicit NamedHash(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace autopack
