#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace autopack {

/// A hash by the name that package indexes and locks give it: md5, sha1, sha224, sha256, sha384 or
/// sha512.
class NamedHash {
public:
  /// None for any other name.
  static std::optional<NamedHash> make(std::string_view name);

  ~NamedHash();
  NamedHash(NamedHash&&) noexcept;
  NamedHash& operator=(NamedHash&&) noexcept;
  NamedHash(const NamedHash&) = delete;
  NamedHash& operator=(const NamedHash&) = delete;

  void update(std::string_view bytes);
  /// The hash of all bytes so far in lower-case hexadecimal digits; once only.
  std::string finish();

private:
  struct State;

  explicit NamedHash(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace autopack
