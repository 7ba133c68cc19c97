#pragma once

#include "source/tree.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// Increment this with each change of the rules: results of other versions do not count.
inline constexpr std::uint64_t secret_rules_version{3};

/// A secret in a file. Its value is not stored.
struct FoundSecret {
  std::string path{};
  int line{0};                ///< 1-based; 0 in a binary file
  std::string kind{};         ///< one word: `private-key`, `github-token`
  std::string fingerprint{};  ///< 12 hexadecimal digits that identify this value

  bool operator==(const FoundSecret&) const = default;
};

/// Returns `a private key` for `private-key`.
std::string secret_in_words(std::string_view kind);

/// Returns true for a login in a URL of a file that contains more than logins.
bool is_login_in_url(const FoundSecret& secret);

/// Scans the bytes of one file as they arrive, with bounded memory.
class SecretScan {
public:
  enum class Detail {
    whether,  ///< ends at the first finding, which has no line
    all,
  };

  /// `path` matters too: `.netrc` and similar files are recognised by their names.
  SecretScan(std::string_view path, Detail detail);

  void feed(std::string_view bytes);
  /// Returns the findings, in the order of lines.
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
  bool named_;             ///< a name whose whole contents are examined
  std::string whole_{};    ///< the contents if named
  std::string carry_{};    ///< examined together with the next bytes
  std::size_t looked_{0};  ///< bytes of `carry_` that are already examined
  int lines_{1};           ///< line at the start of `carry_`
  std::size_t seen_{0};    ///< bytes counted to decide whether the file is binary
  bool binary_{false};
  std::vector<FoundSecret> found_{};
  std::vector<FoundSecret> logins_{};  ///< in URLs, each once
  std::set<std::string, std::less<>> known_logins_{};
};

/// Returns all secrets in the file `path` of `tree`.
std::vector<FoundSecret> find_secrets(const Tree& tree, const std::string& path);

/// The file of a project that allows individual secrets, visible to reviewers.
inline constexpr std::string_view allowed_secrets_file{".autopack-allow-secrets"};

/// A line of that file: `FINGERPRINT KIND PATH`.
struct AllowedSecret {
  std::string fingerprint{};
  std::string kind{};
  std::string path{};  ///< as printable() writes it, so that any name fits on a line
  int line{0};         ///< 1-based
};

/// Parses the file's text; ignores empty lines and those that start with `#`. Throws Error(project)
/// with all invalid lines.
std::vector<AllowedSecret> read_allowed_secrets(std::string_view text);

/// Returns true if `allowed` matches `secret`: a changed value or a moved file is another secret.
bool allows(const AllowedSecret& allowed, const FoundSecret& secret);

/// Returns the line that allows `secret`.
std::string allowing_line(const FoundSecret& secret);

}  // namespace autopack::source
