#pragma once

#include "base/content_hash.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace autopack::state {

/// What a Python said of a file.
struct SyntaxVerdict {
  std::string python{};   ///< its version, as `3.11`; empty: none could say anything
  int line{0};            ///< of the fault
  std::string message{};  ///< of the fault; empty when there is none

  bool operator==(const SyntaxVerdict&) const = default;
};

/// A Python of this machine, as it was when it said its version.
struct KnownPython {
  std::string path{};
  std::int64_t changed_ns{0};
  std::uint64_t size{0};
  std::string version{};  ///< `3.11`

  bool operator==(const KnownPython&) const = default;
};

/// What Pythons said of the files of one project, by the hash of their content and the version they
/// were asked about, in a text. A line that is damaged counts as absent.
class SyntaxVerdicts {
public:
  explicit SyntaxVerdicts(const std::string& saved = {});

  /// None when no Python was asked about it.
  std::optional<SyntaxVerdict> of(const ContentHash& content, const std::string& version);

  void add(const ContentHash& content, const std::string& version, SyntaxVerdict verdict);

  const std::optional<KnownPython>& python() const { return python_; }

  void set_python(KnownPython python);

  /// The verdicts that were asked for or added; nothing if `saved` says the same.
  std::optional<std::string> text_to_save() const;

private:
  using Key = std::pair<std::string, std::string>;

  std::map<Key, SyntaxVerdict> known_{};
  std::map<Key, SyntaxVerdict> used_{};
  std::optional<KnownPython> python_{};
  bool has_news_{false};
};

}  // namespace autopack::state
