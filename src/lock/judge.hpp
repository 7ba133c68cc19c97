#pragma once

#include "lock/locked_set.hpp"
#include "python/marker.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::lock {

/// Judges the markers and the versions of Python in a lock for an interpreter.
class Judge {
public:
  explicit Judge(const Target& target,
                 std::vector<std::string> extras = {},
                 std::vector<std::string> groups = {});

  /// True when there is no marker. Throws Error(project) for one that cannot be read, or that
  /// depends on what is not known of the interpreter.
  bool holds(std::optional<std::string_view> marker, const std::string& place) const;

  /// True when one of `markers` holds, or when there are none.
  bool any_holds(const std::vector<std::string>& markers, const std::string& place) const;

  /// True when the interpreter is one of `versions`: conditions as PEP 440 or Poetry writes them;
  /// none: all. Throws Error(project) for what is neither.
  bool is_python(std::optional<std::string_view> versions, const std::string& place) const;

  /// Throws Error(project) when the interpreter is none of `versions`; `what` requires it.
  void require_python(std::optional<std::string_view> versions,
                      const std::string& what,
                      const std::string& place) const;

  /// The extras that are asked for; more may be added to them and taken away.
  std::vector<std::string>& extras() { return environment_.extras; }

private:
  python::Version version_;
  python::MarkerEnvironment environment_;
};

/// Throws Error(usage) for an extra or a group (`what`) that is asked for and not among `known`.
void require_known(const std::vector<std::string>& asked,
                   const std::vector<std::string>& known,
                   const std::string& what,
                   const std::string& file);

}  // namespace autopack::lock
