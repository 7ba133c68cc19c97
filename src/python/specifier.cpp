#include "python/specifier.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace autopack::python {

namespace {

using Operator = Specifier::Operator;

/// If one is the beginning of another, the longer one comes first.
constexpr std::array<std::pair<std::string_view, Operator>, 8> operators{{
    {"===", Operator::arbitrarily_equal},
    {"~=", Operator::compatible},
    {"==", Operator::equal},
    {"!=", Operator::not_equal},
    {"<=", Operator::at_most},
    {">=", Operator::at_least},
    {"<", Operator::less},
    {">", Operator::greater},
}};

/// True if `candidate` has the same epoch and begins with the same release numbers; missing numbers
/// are 0.
bool starts_with(const Version& candidate, const Version& version) {
  if (candidate.epoch != version.epoch) {
    return false;
  }
  for (std::size_t i = 0; i < version.release.size(); ++i) {
    const auto number = i < candidate.release.size() ? candidate.release[i] : 0;
    if (number != version.release[i]) {
      return false;
    }
  }
  return true;
}

/// Returns whether `candidate` equals `version`; compares the local part only if the condition has
/// one.
bool equals(const Version& candidate, const Version& version) {
  return (version.local.empty() ? candidate.without_local() : candidate) == version;
}

bool fits_compatible(const Version& candidate, const Version& version) {
  Version series = version.base();
  series.release.pop_back();
  return candidate.without_local() >= version && starts_with(candidate, series);
}

/// A pre-release of `version` itself is not below it, unless the condition names a pre-release.
bool is_below(const Version& candidate, const Version& version) {
  const bool own =
      !version.is_prerelease() && candidate.is_prerelease() && candidate.base() == version.base();
  return candidate < version && !own;
}

/// Post-releases and local builds of `version` itself are not above it.
bool is_above(const Version& candidate, const Version& version) {
  const bool own = (candidate.post.has_value() && !version.post) || !candidate.local.empty();
  return candidate > version && !(own && candidate.base() == version.base());
}

bool may_stand(const Specifier& specifier) {
  const bool equality = specifier.op == Operator::equal || specifier.op == Operator::not_equal;
  return (equality || specifier.version.local.empty()) &&
         (specifier.op != Operator::compatible || specifier.version.release.size() > 1);
}

}  // namespace

std::optional<Specifier> Specifier::parse(std::string_view text) {
  text = trim(text);
  const auto* const found =
      std::ranges::find_if(operators, [&](const auto& one) { return text.starts_with(one.first); });
  if (found == operators.end()) {
    return std::nullopt;
  }
  Specifier specifier{.op = found->second};
  auto rest = trim(text.substr(found->first.size()));
  if (specifier.op == Operator::arbitrarily_equal) {
    specifier.text = to_lower(rest);
    const bool plain = rest.find_first_of(" \t;)") == std::string_view::npos;
    return plain ? std::optional{std::move(specifier)} : std::nullopt;
  }
  const bool equality = specifier.op == Operator::equal || specifier.op == Operator::not_equal;
  if (equality && rest.ends_with(".*")) {
    specifier.any_below = true;
    rest.remove_suffix(2);
  }
  auto version = Version::parse(rest);
  if (!version || (specifier.any_below && version->str() != version->base().str())) {
    return std::nullopt;
  }
  specifier.version = std::move(*version);
  return may_stand(specifier) ? std::optional{std::move(specifier)} : std::nullopt;
}

std::string Specifier::str() const {
  const auto* const found =
      std::ranges::find(operators, op, &decltype(operators)::value_type::second);
  const std::string sign{found->first};
  return sign +
         (op == Operator::arbitrarily_equal ? text : version.str() + (any_below ? ".*" : ""));
}

std::string SpecifierSet::str() const {
  std::vector<std::string> texts;
  std::ranges::transform(all_, std::back_inserter(texts), &Specifier::str);
  return join(texts, ",");
}

bool Specifier::holds_for(const Version& candidate) const {
  switch (op) {
    case Operator::compatible: return fits_compatible(candidate, version);
    case Operator::equal:
      return any_below ? starts_with(candidate, version) : equals(candidate, version);
    case Operator::not_equal:
      return !(any_below ? starts_with(candidate, version) : equals(candidate, version));
    case Operator::at_most: return candidate.without_local() <= version;
    case Operator::at_least: return candidate.without_local() >= version;
    case Operator::less: return is_below(candidate, version);
    case Operator::greater: return is_above(candidate, version);
    default: return candidate.str() == text;
  }
}

bool Specifier::names_prerelease() const {
  switch (op) {
    case Operator::equal:
    case Operator::at_least:
    case Operator::at_most:
    case Operator::compatible: return version.is_prerelease();
    case Operator::arbitrarily_equal: {
      const auto named = Version::parse(text);
      return named && named->is_prerelease();
    }
    default: return false;
  }
}

std::optional<SpecifierSet> SpecifierSet::parse(std::string_view text) {
  std::vector<Specifier> all;
  for (const auto& part : split(text, ',')) {
    if (trim(part).empty()) {
      continue;
    }
    auto specifier = Specifier::parse(part);
    if (!specifier) {
      return std::nullopt;
    }
    all.push_back(std::move(*specifier));
  }
  return SpecifierSet{std::move(all)};
}

bool SpecifierSet::contains(const Version& candidate, Prereleases prereleases) const {
  const bool refused =
      prereleases == Prereleases::as_named && candidate.is_prerelease() &&
      std::ranges::none_of(all_, [](const auto& one) { return one.names_prerelease(); });
  return !refused &&
         std::ranges::all_of(all_, [&](const auto& one) { return one.holds_for(candidate); });
}

}  // namespace autopack::python
