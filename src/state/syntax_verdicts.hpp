#pragma once

#include "base/content_hash.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace autopack::state {

/// A Python's verdict about a file's syntax.
struct SyntaxVerdict {
  std::string python{};   ///< its version, such as `3.11`; empty: no Python could check it
  int line{0};            ///< of the error
  std::string message{};  ///< of the error; empty if there is none

  bool operator==(const SyntaxVerdict&) const = default;
};

/// A Python of this machine, with the properties it had when it reported its version.
struct KnownPython {
  std::string path{};
  std::int64_t changed_ns{0};
  std::uint64_t size{0};
  std::string version{};  ///< `3.11`

  bool operator==(const KnownPython&) const = default;
};

/// Pythons' verdicts about the files of one project, by content hash and requested version, saved
/// as text. Ignores damaged lines.
class SyntaxVerdicts {
public:
  explicit SyntaxVerdicts(const std::string& saved = {});

  /// Returns nothing if no Python has checked it.
  std::optional<SyntaxVerdict> of(const ContentHash& content, const std::string& version);

  void add(const ContentHash& content, const std::string& version, SyntaxVerdict verdict);

  const std::optional<KnownPython>& python() const { return python_; }

  void set_python(KnownPython python);

  /// Returns the verdicts that were requested or added, or nothing if they equal `saved`.
  std::optional<std::string> text_to_save() const;

private:
  using Key = std::pair<std::string, std::string>;

  std::map<Key, SyntaxVerdict> known_{};
  std::map<Key, SyntaxVerdict> used_{};
  std::optional<KnownPython> python_{};
  bool has_news_{false};
};

}  // namespace autopack::state
