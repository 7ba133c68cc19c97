#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// How far a rule may look before and after its anchor.
inline constexpr std::size_t secret_window{4096};

/// A secret in a text.
struct SecretMatch {
  std::string_view kind{};
  std::string_view value{};  ///< part of the text; the fingerprint covers it
  /// For a login in a URL, the URL up to its host; otherwise empty. The fingerprint covers the text
  /// around the secret, because a password alone could be guessed from its hash.
  std::string_view login{};
  bool is_anywhere{true};  ///< false: a secret only in a file of dependencies
  bool is_random{true};    ///< false: a password like those in documentation
};

using CharacterClass = bool (*)(char);

/// The definition of a kind of secret.
struct SecretRule {
  std::string_view kind{};
  std::string_view anchor{};  ///< part of the secret, or just before it
  /// Examines `text` around the anchor that begins at `at`.
  std::optional<SecretMatch> (*look)(const SecretRule& rule, std::string_view text, std::size_t at){
      nullptr};
  CharacterClass alphabet{nullptr};  ///< of the text after the anchor
  std::size_t least{0};              ///< number of its characters
  std::size_t most{std::string_view::npos};
};

/// Returns the rules of all secrets that are recognised by their text, in any file.
const std::vector<SecretRule>& secret_rules();

/// Finds the anchors of all rules in one pass.
class SecretAnchors {
public:
  static const SecretAnchors& known();

  /// Returns the first anchor that begins in `[from, end)` of `text`, which may extend beyond
  /// `end`; npos if there is none. Sets `rule` to its rule.
  std::size_t find(std::string_view text,
                   std::size_t from,
                   std::size_t end,
                   const SecretRule*& rule) const;

private:
  struct Anchor {
    std::string text{};
    const SecretRule* rule{nullptr};
  };

  explicit SecretAnchors(const std::vector<SecretRule>& rules);
  void add(std::string text, const SecretRule& rule);

  std::vector<unsigned char> shifts_;
  std::vector<std::vector<Anchor>> buckets_;
};

/// Returns true for placeholders in documentation: `xxxx`, `<TOKEN>`, `${TOKEN}`, `changeme`,
/// `...EXAMPLE`.
bool is_placeholder(std::string_view value);

/// Returns true for files that list dependencies, by their names: requirement files,
/// `pyproject.toml`, locks.
bool is_file_of_dependencies(std::string_view path);

/// A secret in a file that is recognised by its name, with its byte position.
struct NamedSecret {
  std::string_view kind{};
  std::size_t at{0};
};

/// Returns true if files with this name are examined as a whole.
bool is_secret_file(std::string_view path);
/// Returns the secrets in such a file.
std::vector<NamedSecret> secrets_in_file(std::string_view path, std::string_view text);

}  // namespace autopack::source
