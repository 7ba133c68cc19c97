#pragma once

#include "lock/locked_set.hpp"
#include "python/marker.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::lock {

/// Evaluates the markers and Python versions of a lock for an interpreter.
class Judge {
public:
  explicit Judge(const Target& target,
                 std::vector<std::string> extras = {},
                 std::vector<std::string> groups = {});

  /// Returns true if there is no marker. Throws Error(project) for an invalid marker, or one that
  /// depends on an unknown property of the interpreter.
  bool holds(std::optional<std::string_view> marker, const std::string& place) const;

  /// True if one of `markers` holds, or if there are none.
  bool any_holds(const std::vector<std::string>& markers, const std::string& place) const;

  /// True if `versions`, conditions as PEP 440 or Poetry writes them, include the interpreter;
  /// absent: all. Throws Error(project) for other texts.
  bool is_python(std::optional<std::string_view> versions, const std::string& place) const;

  /// Throws Error(project) if `versions`, which `what` requires, do not include the interpreter.
  void require_python(std::optional<std::string_view> versions,
                      const std::string& what,
                      const std::string& place) const;

  /// The requested extras, which callers may modify.
  std::vector<std::string>& extras() { return environment_.extras; }

private:
  python::Version version_;
  python::MarkerEnvironment environment_;
};

/// Throws Error(usage) for a requested extra or group (`what`) that is not among `known`.
void require_known(const std::vector<std::string>& asked,
                   const std::vector<std::string>& known,
                   const std::string& what,
                   const std::string& file);

}  // namespace autopack::lock
