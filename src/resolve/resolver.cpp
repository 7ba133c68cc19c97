#include "resolve/resolver.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "python/interpreter.hpp"
#include "python/marker.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"
#include "python/version.hpp"
#include "resolve/uv_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

// uv resolves; what it may decide is not decided here a second time. Three of its ways are silently
// wrong for an image and are not used: `--no-build` takes ancient versions that still have wheels,
// `--overrides` keeps versions of the image that a requirement forbids, and constraints on all of
// the image hold a new package back. Instead, the image's packages are offered as wheels without
// contents, and as the versions of an earlier lock, which uv keeps where it can.

namespace autopack::resolve {

namespace {

namespace fs = std::filesystem;

/// Removes the copies of a source distribution that uv unpacked to build it: uv would add another
/// one each time, and has no further use for them.
void remove_unpacked(const Means& means, const SourceMetadata& source) {
  std::error_code ignored;
  const auto below = [&](const fs::path& folder) {
    return fs::directory_iterator{folder, fs::directory_options::skip_permission_denied, ignored};
  };
  const auto place = fs::path{source.name} / source.version;
  for (const auto& bucket : below(means.environment.cache_directory() / "uv")) {
    if (!bucket.path().filename().string().starts_with("sdists-")) {
      continue;
    }
    fs::remove_all(bucket.path() / "pypi" / place, ignored);
    for (const auto& index : below(bucket.path() / "index")) {
      fs::remove_all(index.path() / place, ignored);
    }
  }
}

/// Finds what packages require that uv would build to know it.
class BuildsAvoided {
public:
  BuildsAvoided(Run& run, const Means& means, std::vector<SourceMetadata>& sources)
      : run_{run}, means_{means}, sources_{sources} {}

  /// Returns the text of the lock.
  std::string solve() {
    for (;;) {
      auto lock = try_to_solve();
      if (lock && assumed_.empty()) {
        return *std::move(lock);
      }
      if (lock) {
        read_assumed(*lock);
      }
    }
  }

private:
  /// Returns nothing if uv needed a build, and gets what it needs in the next try.
  std::optional<std::string> try_to_solve() {
    try {
      auto lock = run_.has_heavy() ? run_.solve(true) : std::nullopt;
      return lock ? std::move(lock) : run_.solve(false);
    } catch (const BuildNeeded& needed) {
      constexpr int most_tries{50};
      if (++tries_ > most_tries || !is_avoided(needed)) {
        throw;
      }
      return std::nullopt;
    } catch (const Error& error) {
      if (needed_ && error.kind() == ErrorKind::project) {
        throw *needed_;  // an assumption may be why there is no solution
      }
      throw;
    }
  }

  bool is_avoided(const BuildNeeded& needed) {
    const auto parts = python::parse_requirement(needed.source());
    if (!needed.is_named()) {
      return assume(means_.name_sources ? means_.name_sources() : std::vector<std::string>{},
                    needed);
    }
    if (parts.name && parts.kind != python::Requirement::Kind::named) {
      return assume({*parts.name}, needed);
    }
    const auto version = parts.rest.starts_with("==") ? parts.rest.substr(2) : std::string{};
    const auto requirements = parts.name && !version.empty() && means_.read_source
                                  ? means_.read_source(*parts.name, version)
                                  : std::nullopt;
    if (requirements) {
      sources_.push_back({.name = *parts.name, .version = version, .requirements = *requirements});
      run_.add_metadata(sources_.back());
      remove_unpacked(means_, sources_.back());
    }
    return requirements.has_value();
  }

  /// Only uv knows the commit of a branch, so that it has to solve first, as if these packages
  /// required nothing.
  bool assume(const std::vector<std::string>& names, const BuildNeeded& needed) {
    if (!means_.read_chosen || names.empty()) {
      return false;
    }
    for (const auto& name : names) {
      run_.assume_no_requirements(name);
      assumed_.push_back(name);
    }
    run_.rewrite();
    needed_ = needed;
    return true;
  }

  /// A marker may exclude a source that was assumed.
  void read_assumed(const std::string& lock) {
    const auto packages = packages_in(lock);
    std::erase_if(assumed_, [&](const std::string& name) {
      return std::ranges::find(packages, name, &Package::name) == packages.end();
    });
    const auto found = means_.read_chosen(lock, assumed_);
    if (!found) {
      throw needed_.value();
    }
    for (std::size_t i = 0; i < assumed_.size(); ++i) {
      run_.set_metadata(assumed_[i], found->at(i));
    }
    run_.rewrite();
    assumed_.clear();
    needed_.reset();
  }

  Run& run_;
  const Means& means_;
  std::vector<SourceMetadata>& sources_;
  std::vector<std::string> assumed_{};   ///< names
  std::optional<BuildNeeded> needed_{};  ///< the reason for the assumption
  int tries_{0};
};

/// Returns the text of the lock. Adds what source distributions require to `sources`.
std::string solve(Run& run, const Means& means, std::vector<SourceMetadata>& sources) {
  return BuildsAvoided{run, means, sources}.solve();
}

bool is_same_version(const std::string& one, const std::string& other) {
  const auto parsed = python::Version::parse(one);
  return one == other || (parsed && parsed == python::Version::parse(other));
}

/// Returns the packages of `lock` that the image does not have at that version.
std::string new_packages(const std::string& lock, const Question& question) {
  std::string text;
  for (const auto& package : packages_in(lock)) {
    const auto installed = std::ranges::find(question.installed, package.name, &Installed::name);
    if (installed == question.installed.end() ||
        !is_same_version(installed->version, package.version)) {
      text += package.text;
    }
  }
  return text;
}

[[noreturn]] void throw_unfit(const std::vector<Unfit>& unfit,
                              const python::Interpreter& interpreter) {
  Problems problems;
  for (const auto& one : unfit) {
    problems.push_back(
        {.message =
             fmt::format("`{}` {} requires Python {}, and the executor image has {}", one.name,
                         one.version, printable(one.requires_python), interpreter.version.str()),
         .hints = {"take an executor image with such a Python, or allow another version"}});
  }
  throw Error{ErrorKind::project, std::move(problems)};
}

/// Returns the names of the image's packages that `lock` replaces by other versions.
std::set<std::string> replaced_in(const std::string& lock, const Question& question) {
  std::set<std::string> names;
  for (const auto& package : packages_in(lock)) {
    const auto there = std::ranges::find(question.installed, package.name, &Installed::name);
    if (there != question.installed.end() && !is_same_version(there->version, package.version)) {
      names.insert(package.name);
    }
  }
  return names;
}

/// Returns true if `newest` has a larger first number, or the same and a second one that is larger
/// by far; after 0, the second number counts as the first.
bool is_far_behind(const python::Version& version, const python::Version& newest) {
  constexpr std::uint64_t far{5};
  const auto line_of = [](const python::Version& one) {
    const auto& parts = one.release;
    const auto part = [&](std::size_t i) { return i < parts.size() ? parts[i] : 0; };
    return part(0) == 0 ? std::pair{part(1), part(2)} : std::pair{part(0), part(1)};
  };
  const auto old_line = line_of(version);
  const auto new_line = line_of(newest);
  return old_line.first < new_line.first ||
         (old_line.first == new_line.first && old_line.second + far < new_line.second);
}

/// Returns the packages of `lock` that the project requires itself and that are far behind, unless
/// an earlier lock or the image has them at that version.
std::vector<Package> left_behind(const std::string& lock,
                                 const Question& question,
                                 const Means& means) {
  const auto before = packages_in(question.before.value_or(""));
  std::vector<Package> behind;
  for (auto& package : packages_in(lock)) {
    const auto is_it = [&](const auto& other) {
      return other.name == package.name && other.version == package.version;
    };
    const auto version = python::Version::parse(package.version);
    if (!means.newest || !version || !contains(question.direct, package.name) ||
        std::ranges::any_of(before, is_it) || std::ranges::any_of(question.installed, is_it)) {
      continue;
    }
    const auto newest = means.newest(package.name);
    if (newest && is_far_behind(*version, *newest)) {
      behind.push_back(std::move(package));
    }
  }
  return behind;
}

/// Whether raising a package may lower another one that the project requires itself.
enum class Lowering { forbidden, allowed };

/// Resolves again with newer versions of `behind`, and the same ones of the image; returns nothing
/// if that has no solution.
std::optional<std::string> solve_above(Run& run,
                                       const Question& question,
                                       const Means& means,
                                       const std::string& lock,
                                       const std::vector<Package>& behind,
                                       Lowering lowering,
                                       std::vector<SourceMetadata>& sources) {
  std::vector<std::string> bounds;
  for (const auto& package : packages_in(lock)) {
    const auto installed = std::ranges::find(question.installed, package.name, &Installed::name);
    if (std::ranges::find(behind, package.name, &Package::name) != behind.end()) {
      bounds.push_back(fmt::format("{}>{}", package.name, package.version));
    } else if (installed != question.installed.end() &&
               is_same_version(installed->version, package.version)) {
      bounds.push_back(fmt::format("{}=={}", package.name, package.version));
    } else if (lowering == Lowering::forbidden && !package.version.empty() &&
               contains(question.direct, package.name)) {
      bounds.push_back(fmt::format("{}>={}", package.name, package.version));
    }
  }
  run.set_bounds(std::move(bounds));
  try {
    return solve(run, means, sources);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::project) {
      throw;
    }
    return std::nullopt;
  }
}

/// Returns true if `lock` has a pre-release of a package that `before` does not have.
bool has_new_prerelease(const std::string& lock, const std::string& before) {
  const auto old = packages_in(before);
  return std::ranges::any_of(packages_in(lock), [&](const Package& package) {
    const auto version = python::Version::parse(package.version);
    return version && version->is_prerelease() &&
           std::ranges::none_of(old, [&](const Package& other) {
             return other.name == package.name && other.version == package.version;
           });
  });
}

/// Returns `lock`, or a better one in which packages that were left behind are raised: all of them,
/// or the first one that can be. None is raised at the cost of a package of the image, or to a
/// pre-release, which uv takes if nothing else is above a bound. If raising all needs it, others
/// become older, but not far behind: s3fs needs a boto3 of some weeks ago.
std::string raised(Run& run,
                   const Question& question,
                   const Means& means,
                   std::string lock,
                   Resolution& resolution) {
  constexpr std::size_t most_tries{4};
  const auto behind = left_behind(lock, question, means);
  const auto replaced = replaced_in(lock, question);
  const auto is_behind = [&](const Package& package) {
    return std::ranges::find(behind, package.name, &Package::name) != behind.end();
  };
  const auto raise = [&](const std::vector<Package>& packages, Lowering lowering) {
    auto found = solve_above(run, question, means, lock, packages, lowering, resolution.sources);
    return found && (question.prereleases || !has_new_prerelease(*found, lock)) &&
                   std::ranges::includes(replaced, replaced_in(*found, question)) &&
                   std::ranges::all_of(left_behind(*found, question, means), is_behind)
               ? found
               : std::nullopt;
  };
  auto better = behind.empty() ? std::nullopt : raise(behind, Lowering::forbidden);
  if (!better && !behind.empty()) {
    better = raise(behind, Lowering::allowed);
  }
  for (std::size_t i = 0; !better && behind.size() > 1 && i < behind.size() && i < most_tries;
       ++i) {
    better = raise({behind[i]}, Lowering::forbidden);
  }
  if (!better) {
    return lock;
  }
  for (const auto& package : packages_in(*better)) {
    const auto old = std::ranges::find(behind, package.name, &Package::name);
    if (old != behind.end() && old->version != package.version) {
      resolution.raised.push_back(
          {.name = package.name, .before = old->version, .version = package.version});
    }
  }
  return *std::move(better);
}

/// Returns the lock with packages for the interpreter only. uv ignores an upper limit of
/// `Requires-Python`; the versions that have one are excluded, until none is chosen.
std::string solve_for_interpreter(Run& run,
                                  const Question& question,
                                  const Means& means,
                                  Resolution& resolution) {
  constexpr int most_tries{8};
  std::vector<Unfit> unfit;
  for (int i = 0;; ++i) {
    std::string lock;
    try {
      resolution.raised.clear();
      run.set_bounds({});
      lock = raised(run, question, means, solve(run, means, resolution.sources), resolution);
    } catch (const Error& error) {
      if (unfit.empty() || error.kind() != ErrorKind::project) {
        throw;
      }
      throw_unfit(unfit, question.interpreter);
    }
    auto found = means.unfit && i < most_tries ? means.unfit(new_packages(lock, question))
                                               : std::vector<Unfit>{};
    if (found.empty()) {
      return lock;
    }
    for (auto& one : found) {
      for (const auto& version : one.excluded) {
        run.exclude(one.name, version);
      }
      unfit.push_back(std::move(one));
    }
  }
}

/// Returns the packages of the image that stay and whose requirements `replaced` does not meet.
std::vector<Broken> broken_by(const std::vector<Replaced>& replaced, const Question& question) {
  const auto environment = python::marker_environment(question.interpreter);
  std::map<std::string, python::Version> versions;
  for (const auto& one : replaced) {
    if (auto version = python::Version::parse(one.version)) {
      versions.emplace(one.installed.name, *std::move(version));
    }
  }
  std::vector<Broken> broken;
  for (const auto& installed : question.installed) {
    if (versions.contains(installed.name)) {
      continue;
    }
    for (const auto& text : installed.requirements) {
      const auto requirement = python::parse_requirement(text);
      const auto found = versions.find(requirement.name.value_or(""));
      const auto conditions = python::SpecifierSet::parse(requirement.rest);
      const auto marker =
          requirement.marker ? python::Marker::parse(*requirement.marker) : std::nullopt;
      const bool holds = !requirement.marker || (marker && marker->holds_in(environment) == true);
      if (found != versions.end() && conditions && holds &&
          !conditions->contains(found->second, python::Prereleases::allowed)) {
        broken.push_back({.installed = installed, .requirement = python::normalised(requirement)});
      }
    }
  }
  return broken;
}

}  // namespace

BuildNeeded::BuildNeeded(std::string source)
    : Error{ErrorKind::project,
            fmt::format("`{}` has to be built before its dependencies are known",
                        printable(source))},
      source_{std::move(source)} {}

Resolution resolve(const Question& question, const Means& means) {
  Run run{question, means};
  Resolution resolution;
  for (const auto& source : question.sources_read) {
    run.add_metadata(source);
  }
  const auto lock = solve_for_interpreter(run, question, means, resolution);
  for (auto& package : packages_in(lock)) {
    const auto installed = std::ranges::find(question.installed, package.name, &Installed::name);
    const bool is_there = installed != question.installed.end();
    if (is_there && is_same_version(installed->version, package.version)) {
      resolution.provided.push_back(*installed);
      continue;
    }
    if (is_there) {
      resolution.replaced.push_back({.installed = *installed, .version = package.version});
    }
    resolution.packages += package.text;
    ++resolution.chosen;
  }
  resolution.missing_extras = run.missing_extras();
  resolution.broken = broken_by(resolution.replaced, question);
  return resolution;
}

}  // namespace autopack::resolve
