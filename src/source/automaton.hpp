#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace autopack::source {

/// Tells whether a regular expression is found in a text, in time linear in the text: the places
/// in the expression where a match may stand are the bits of a few words.
class Automaton {
public:
  /// Throws Error(project) for an expression that is wrong or too long.
  explicit Automaton(std::string_view regexp);

  bool matches(std::string_view text) const;

  /// What each text that matches begins with; may be empty.
  const std::string& prefix() const;

private:
  struct Program;
  std::shared_ptr<const Program> program_;
};

}  // namespace autopack::source
