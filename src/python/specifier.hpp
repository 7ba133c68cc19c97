#pragma once

#include "python/version.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::python {

/// Whether a pre-release can match.
enum class Prereleases {
  as_named,  ///< only if a condition names one, as for distributions
  allowed,   ///< as for the version of Python itself
};

/// A condition on a version, such as `>=1.2` or `==1.*`.
struct Specifier {
  enum class Operator {
    compatible,        ///< `~=`
    equal,             ///< `==`
    not_equal,         ///< `!=`
    at_most,           ///< `<=`
    at_least,          ///< `>=`
    less,              ///< `<`
    greater,           ///< `>`
    arbitrarily_equal  ///< `===`, which compares text
  };

  Operator op{Operator::equal};
  Version version{};
  bool any_below{false};  ///< `.*`
  std::string text{};     ///< of `===`: the text after it

  /// Returns nothing if `text` is not a condition of PEP 440.
  static std::optional<Specifier> parse(std::string_view text);

  /// Returns `>=1.2`, with the version in its normal form.
  std::string str() const;

  /// Treats pre-releases like other versions: see SpecifierSet::contains.
  bool holds_for(const Version& candidate) const;
  bool names_prerelease() const;
};

/// Conditions that must all hold: `>=3.8,!=3.9.0,<4`. An empty set matches every version.
class SpecifierSet {
public:
  SpecifierSet() = default;

  explicit SpecifierSet(std::vector<Specifier> all) : all_{std::move(all)} {}

  /// Returns nothing if `text` contains anything but conditions.
  static std::optional<SpecifierSet> parse(std::string_view text);

  bool contains(const Version& candidate, Prereleases prereleases = Prereleases::as_named) const;

  const std::vector<Specifier>& all() const { return all_; }

  /// Returns `>=3.8,<4`; empty for an empty set.
  std::string str() const;

private:
  std::vector<Specifier> all_{};
};

/// Parses a constraint in Poetry's syntax: `^3.8`, `~3.9`, `3.8.*`, `>=3.8 <3.12`, `2.7 || ^3.6`.
/// Returns one set for each alternative; nothing if `text` is not such a constraint.
std::optional<std::vector<SpecifierSet>> parse_poetry_constraint(std::string_view text);

}  // namespace autopack::python
