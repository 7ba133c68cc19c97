#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// How far a rule may look before and behind its anchor.
inline constexpr std::size_t secret_window{4096};

/// A secret at a place of a text.
struct SecretMatch {
  std::string_view kind{};
  std::string_view value{};  ///< a part of the text, which the fingerprint covers
  /// The URL up to its host, of a login in a URL; empty for other secrets. Its fingerprint covers
  /// what stands around it, because a password alone could be guessed from its hash.
  std::string_view login{};
  bool is_anywhere{true};  ///< false: a secret only in a file of dependencies
  bool is_random{true};    ///< false: a password as documentation makes one up
};

using CharacterClass = bool (*)(char);

/// What tells a kind of secret.
struct SecretRule {
  std::string_view kind{};
  std::string_view anchor{};  ///< stands in the secret, or before it
  /// Looks at `text` around the anchor that begins at `at`.
  std::optional<SecretMatch> (*look)(const SecretRule& rule, std::string_view text, std::size_t at){
      nullptr};
  CharacterClass alphabet{nullptr};  ///< of what follows the anchor
  std::size_t least{0};              ///< of them
  std::size_t most{std::string_view::npos};
};

/// The rules of all secrets that are known by what stands in a file, whatever its name.
const std::vector<SecretRule>& secret_rules();

/// Finds the anchors of all rules in one pass.
class SecretAnchors {
public:
  /// Over all rules.
  static const SecretAnchors& known();

  /// The first anchor that begins in `[from, end)` of `text`, which may go on behind `end`; npos
  /// when there is none. `rule` is set to its rule.
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

/// True for what documentation writes in a secret's place: `xxxx`, `<TOKEN>`, `${TOKEN}`,
/// `changeme`, `...EXAMPLE`.
bool is_placeholder(std::string_view value);

/// True for files that say what is installed, by their names: requirement files, `pyproject.toml`,
/// locks.
bool is_file_of_dependencies(std::string_view path);

/// A secret in a file that is known by its name, by the number of the byte where it stands.
struct NamedSecret {
  std::string_view kind{};
  std::size_t at{0};
};

/// True when files of this name are looked at as a whole.
bool is_secret_file(std::string_view path);
/// The secrets in such a file.
std::vector<NamedSecret> secrets_in_file(std::string_view path, std::string_view text);

}  // namespace autopack::source
