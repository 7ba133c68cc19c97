#pragma once

#include "source/tree.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// Raised with each change of what is looked for: results of another version do not count.
inline constexpr std::uint64_t secret_rules_version{3};

/// A secret that stands in a file. Its value is nowhere in here.
struct FoundSecret {
  std::string path{};
  int line{0};                ///< 1-based; 0 in a binary file
  std::string kind{};         ///< one word: `private-key`, `github-token`
  std::string fingerprint{};  ///< 12 hexadecimal digits that tell this value from others

  bool operator==(const FoundSecret&) const = default;
};

/// `a private key` for `private-key`.
std::string secret_in_words(std::string_view kind);

/// True for a login that stands in a URL of a file that has more to say than logins.
bool is_login_in_url(const FoundSecret& secret);

/// Looks through the bytes of one file as they come. Sizes do not matter: memory stays bounded.
class SecretScan {
public:
  enum class Detail {
    whether,  ///< ends at the first finding, which has no line
    all,
  };

  /// `path` matters too: `.netrc` and its like are known by their names.
  SecretScan(std::string_view path, Detail detail);

  void feed(std::string_view bytes);
  /// What was found, in the order of lines.
  std::vector<FoundSecret> finish();

private:
  void look(std::string_view text, std::size_t end);
  void note(std::string_view text, std::size_t at, std::string_view kind, std::string_view value);
  FoundSecret made(std::string_view text,
                   std::size_t at,
                   std::string_view kind,
                   std::string_view value) const;
  void add_logins();

  bool is_done() const {
    return detail_ == Detail::whether && !(found_.empty() && logins_.empty());
  }

  std::string path_;
  Detail detail_;
  bool named_;             ///< a name whose whole contents are looked at
  std::string whole_{};    ///< the contents when named
  std::string carry_{};    ///< what the next bytes are looked at with
  std::size_t looked_{0};  ///< bytes of `carry_` whose findings are known
  int lines_{1};           ///< line at the start of `carry_`
  std::size_t seen_{0};    ///< bytes, as far as they tell whether the file is binary
  bool binary_{false};
  std::vector<FoundSecret> found_{};
  std::vector<FoundSecret> logins_{};  ///< in URLs, each once
  std::set<std::string, std::less<>> known_logins_{};
};

/// All secrets in the file `path` of `tree`.
std::vector<FoundSecret> find_secrets(const Tree& tree, const std::string& path);

}  // namespace autopack::source
