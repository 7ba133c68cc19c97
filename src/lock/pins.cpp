#include "lock/pins.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "lock/direct_reference.hpp"
#include "lock/merge.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace autopack::lock {

namespace {

using project::ListedRequirement;
using python::Requirement;
using python::Specifier;

const std::string flags_origin = "requirements";
const std::string package_origin = "pyproject.toml";
constexpr std::size_t most_reported{5};

/// True for an option that does not affect which file of a pinned version is selected.
bool is_harmless(const std::string& option) {
  static constexpr std::array<std::string_view, 11> harmless{
      "--index-url",     "--extra-index-url", "--no-index",    "--trusted-host", "--find-links",
      "--pre",           "--prefer-binary",   "--only-binary", "--no-binary",    "--use-feature",
      "--require-hashes"};
  return contains(harmless, option);
}

/// Returns the only version that `conditions` allow; nothing if they allow several or none.
std::optional<python::Version> pinned_version(const std::string& conditions) {
  const auto set = python::SpecifierSet::parse(conditions);
  for (const auto& one : set ? set->all() : std::vector<Specifier>{}) {
    const bool is_text = one.op == Specifier::Operator::arbitrarily_equal;
    if (!is_text && (one.op != Specifier::Operator::equal || one.any_below)) {
      continue;
    }
    auto version = is_text ? python::Version::parse(one.text) : std::optional{one.version};
    if (version && set->contains(*version, python::Prereleases::allowed)) {
      return version;
    }
  }
  return std::nullopt;
}

/// The files of each package that `--no-binary` and `--only-binary` allow.
class FormatRules {
public:
  void add(const project::ListedOption& option) {
    const bool is_source = option.name == "--no-binary";
    if (!is_source && option.name != "--only-binary") {
      return;
    }
    for (const auto& name : split(option.value, ',')) {
      const std::string word{trim(name)};
      if (word == ":all:") {
        only_.clear();
        others_ = is_source ? Formats::sources : Formats::wheels;
      } else if (word == ":none:") {
        forget(is_source ? Formats::sources : Formats::wheels);
      } else {
        only_[python::normalise_name(word)] = is_source ? Formats::sources : Formats::wheels;
      }
    }
  }

  Formats of(const std::string& name) const {
    const auto found = only_.find(name);
    return found == only_.end() ? others_ : found->second;
  }

private:
  void forget(Formats formats) {
    others_ = others_ == formats ? Formats::any : others_;
    std::erase_if(only_, [&](const auto& one) { return one.second == formats; });
  }

  Formats others_{Formats::any};
  std::map<std::string, Formats> only_{};
};

class PinReader {
public:
  PinReader(const project::Project& project, const python::Interpreter& interpreter)
      : project_{&project}, environment_{python::marker_environment(interpreter)} {}

  Pins read(const std::vector<std::string>& of_package) {
    for (const auto& option : project_->listed_options) {
      if (!is_harmless(option.name)) {
        refuse(option.origin, fmt::format("`{}` may change the selection", option.name));
      }
      formats_.add(option);
    }
    for (const auto& listed : project_->listed_requirements) {
      take(listed);
    }
    for (const auto& asked : project_->requirements) {
      take({.requirement = asked.parts, .origin = flags_origin});
    }
    for (const auto& text : of_package) {
      take_of_package({.requirement = python::parse_requirement(text), .origin = package_origin});
    }
    for (const auto& listed : project_->listed_requirements) {
      constrain(listed);
    }
    if (!reasons_.empty()) {
      return {.reason = reason()};
    }
    LockedSet set{.origin = project_->requirement_files.empty()
                                ? flags_origin
                                : join(project_->requirement_files, ", "),
                  .hashed = project_->hashed,
                  .is_complete = project_->hashed,
                  .packages = std::move(packages_)};
    sort_packages(set);
    return {.set = std::move(set)};
  }

private:
  void refuse(const std::string& origin, const std::string& what) {
    reasons_.push_back(fmt::format("{}: {}", origin, what));
  }

  std::string reason() const {
    const auto shown = std::min(reasons_.size(), most_reported);
    auto text = "not a complete set of pins: " +
                join(std::vector<std::string>(reasons_.begin(),
                                              reasons_.begin() + static_cast<long>(shown)),
                     "; ");
    return shown == reasons_.size() ? text
                                    : fmt::format("{}; and {} more", text, reasons_.size() - shown);
  }

  /// Also returns false if the marker cannot be evaluated.
  bool applies(const ListedRequirement& listed) {
    const auto& text = listed.requirement.marker;
    if (!text) {
      return true;
    }
    const auto marker = variables_of(*text).empty() ? python::Marker::parse(*text) : std::nullopt;
    const auto holds = marker ? marker->holds_in(environment_) : std::nullopt;
    if (!holds) {
      refuse(listed.origin, fmt::format("the marker `{}` cannot be evaluated", printable(*text)));
    }
    return holds.value_or(false);
  }

  void take(const ListedRequirement& listed) {
    if (listed.constraint || !applies(listed)) {
      return;
    }
    if (!listed.options.empty()) {
      refuse(listed.origin, fmt::format("`{}` asks for a build of its own", listed.options[0]));
      return;
    }
    LockedPackage package{.name = listed.requirement.name.value_or(""),
                          .extras = listed.requirement.extras,
                          .requested = true,
                          .place = listed.origin};
    for (const auto& text : listed.hashes) {
      if (auto hash = python::Hash::parse(text)) {
        package.hashes.push_back(std::move(*hash));
      }
    }
    const bool read = listed.requirement.kind == Requirement::Kind::named
                          ? read_named(listed, package)
                          : read_source(listed, package);
    if (!read) {
      return;
    }
    if (project_->hashed && package.hashes.empty()) {
      refuse(listed.origin, fmt::format("`{}` has no hash, but others have one", shown(listed)));
    }
    add(std::move(package));
  }

  static std::string shown(const ListedRequirement& listed) {
    return printable(python::normalised(listed.requirement));
  }

  bool read_named(const ListedRequirement& listed, LockedPackage& package) {
    package.version = pinned_version(listed.requirement.rest);
    package.formats = formats_.of(package.name);
    const bool pinned = package.version && !package.name.empty();
    if (!pinned) {
      refuse(listed.origin, fmt::format("`{}` is not pinned by `==`", shown(listed)));
    }
    return pinned;
  }

  /// Handles a URL or a path.
  bool read_source(const ListedRequirement& listed, LockedPackage& package) {
    const auto fault = set_direct(package, listed);
    if (fault) {
      refuse(listed.origin, *fault);
    }
    return !fault;
  }

  void add(LockedPackage package) {
    // A package without a name yet is never equal to another.
    const auto [same, is_new] = places_.try_emplace(package.name, packages_.size());
    if (is_new || package.name.empty()) {
      packages_.push_back(std::move(package));
      return;
    }
    auto& there = packages_[same->second];
    if (!merge_pins(there, package)) {
      refuse(package.place,
             fmt::format("`{}` is pinned differently in {}", package.name, there.place));
    }
  }

  /// Handles a requirement of the project's own package: an existing pin must satisfy it, else it
  /// must be a pin itself.
  void take_of_package(const ListedRequirement& listed) {
    const auto& requirement = listed.requirement;
    const auto found = places_.find(requirement.name.value_or(""));
    if (requirement.kind != Requirement::Kind::named || found == places_.end()) {
      take(listed);
      return;
    }
    if (!applies(listed)) {
      return;
    }
    auto& there = packages_[found->second];
    const auto conditions = python::SpecifierSet::parse(requirement.rest);
    if (!conditions || !there.version ||
        !conditions->contains(*there.version, python::Prereleases::allowed)) {
      refuse(listed.origin,
             fmt::format("`{}` does not match the pin in {}", shown(listed), there.place));
      return;
    }
    for (const auto& extra : requirement.extras) {
      there.extras.push_back(python::normalise_name(extra));
    }
    std::ranges::sort(there.extras);
    there.extras.erase(std::unique(there.extras.begin(), there.extras.end()), there.extras.end());
  }

  /// A constraint must allow the pin.
  void constrain(const ListedRequirement& listed) {
    if (!listed.constraint || !applies(listed)) {
      return;
    }
    const auto& requirement = listed.requirement;
    const auto found = places_.find(requirement.name.value_or(""));
    const auto* const same = found == places_.end() ? nullptr : &packages_[found->second];
    const auto conditions = python::SpecifierSet::parse(requirement.rest);
    if (requirement.kind != Requirement::Kind::named || !listed.hashes.empty() || !conditions) {
      refuse(listed.origin,
             fmt::format("the constraint `{}` is not just a range of versions", shown(listed)));
    } else if (same != nullptr && same->version &&
               !conditions->contains(*same->version, python::Prereleases::allowed)) {
      refuse(listed.origin,
             fmt::format("the constraint `{}` excludes the pin in {}", shown(listed), same->place));
    }
  }

  const project::Project* project_;
  python::MarkerEnvironment environment_;
  FormatRules formats_{};
  std::vector<LockedPackage> packages_;
  std::map<std::string, std::size_t> places_;  ///< indexes into packages_, by name
  std::vector<std::string> reasons_;
};

}  // namespace

Pins read_pins(const project::Project& project,
               const python::Interpreter& interpreter,
               const std::vector<std::string>& of_package) {
  return PinReader{project, interpreter}.read(of_package);
}

}  // namespace autopack::lock
