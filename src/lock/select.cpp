#include "lock/select.hpp"

#include "base/text.hpp"
#include "lock/file_names.hpp"
#include "project/findings.hpp"
#include "python/marker.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"
#include "python/wheel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

// Which file of a pinned version is installed depends on the interpreter. This follows pip's order
// without asking an index, so that a complete lock needs no network to know its image.
namespace autopack::lock {

namespace {

using python::WheelName;

/// The check at which a candidate fails. The latest failure of all candidates gives the reason.
enum class Stage { unreadable, other_version, other_hash, other_python, other_tag, fits };

bool share_one(const std::vector<python::Hash>& a, const std::vector<python::Hash>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

/// A wheel that fits, with its criteria, the most important first.
struct Fitting {
  std::size_t place{0};
  bool known_by_hash{false};
  bool current{true};  ///< not yanked
  WheelName wheel{};
  std::size_t rank{0};

  bool is_better_than(const Fitting& other) const {
    return std::tie(known_by_hash, current, wheel.version, other.rank, wheel.build) >
           std::tie(other.known_by_hash, other.current, other.wheel.version, rank,
                    other.wheel.build);
  }
};

/// A source distribution that fits.
struct FittingSource {
  std::size_t place{0};
  bool known_by_hash{false};
  bool current{true};
  python::Version version{};

  bool is_better_than(const FittingSource& other) const {
    return std::tie(known_by_hash, current, version) >
           std::tie(other.known_by_hash, other.current, other.version);
  }
};

bool is_pinned(const std::optional<python::Version>& pin, const python::Version& version) {
  return !pin || *pin == version || (pin->local.empty() && *pin == version.without_local());
}

std::string shown(const LockedPackage& package) {
  return package.version ? fmt::format("`{}` {}", package.name, package.version->str())
                         : fmt::format("`{}`", package.name);
}

std::string reason_of(Stage stage, const LockedPackage& package, const std::string& target) {
  switch (stage) {
    case Stage::other_tag: return fmt::format("no wheel of {} is for {}", shown(package), target);
    case Stage::other_python:
      return fmt::format("no wheel of {} is for this version of Python", shown(package));
    case Stage::other_hash:
      return fmt::format("no file of {} has a hash that {} allows", shown(package), package.place);
    case Stage::other_version: return fmt::format("there is no {}", shown(package));
    default:
      return package.formats == Formats::sources
                 ? fmt::format(
                       "`--no-binary` asks for a source distribution of {}, but there is none",
                       shown(package))
                 : fmt::format("there is no wheel of {}", shown(package));
  }
}

}  // namespace

FileChooser::FileChooser(const python::Interpreter& interpreter)
    : tags_{interpreter}, version_{interpreter.version} {
  const auto& release = version_.release;
  target_ = fmt::format("{}{}{}{} {}", interpreter.implementation == "cpython" ? "cp" : "py",
                        release.empty() ? 0 : release[0], release.size() > 1 ? release[1] : 0,
                        interpreter.abi_flags, tags_.platform());
}

bool FileChooser::is_for_python(const std::optional<std::string>& conditions) const {
  const auto set = conditions ? python::SpecifierSet::parse(*conditions) : std::nullopt;
  // pip ignores a condition that it cannot parse.
  return !set || set->contains(version_, python::Prereleases::allowed);
}

Selection FileChooser::choose(const LockedPackage& package,
                              std::span<const Candidate> candidates) const {
  Selection selection;
  Stage farthest{Stage::unreadable};
  const auto reach = [&](Stage stage) { farthest = std::max(farthest, stage); };
  std::optional<Fitting> best;
  std::optional<FittingSource> best_source;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& candidate = candidates[i];
    auto wheel = WheelName::parse(candidate.name);
    const auto source = wheel ? std::nullopt : parse_source_name(candidate.name);
    if ((wheel ? wheel->name : source ? source->first : "") != package.name) {
      continue;
    }
    const bool has_version = is_pinned(package.version, wheel ? wheel->version : source->second);
    selection.has_version |= has_version;
    if (package.formats == (wheel ? Formats::sources : Formats::wheels)) {
      continue;
    }
    if (!has_version) {
      reach(Stage::other_version);
    } else if (!package.hashes.empty() && !candidate.hashes.empty() &&
               !share_one(package.hashes, candidate.hashes)) {
      reach(Stage::other_hash);
    } else if (!is_for_python(candidate.requires_python)) {
      reach(Stage::other_python);
    } else if (!wheel) {
      FittingSource found{.place = i,
                          .known_by_hash = share_one(package.hashes, candidate.hashes),
                          .current = !candidate.yanked,
                          .version = source->second};
      if (!best_source || found.is_better_than(*best_source)) {
        best_source = std::move(found);
      }
    } else if (const auto rank = tags_.rank(*wheel)) {
      Fitting found{.place = i,
                    .known_by_hash = share_one(package.hashes, candidate.hashes),
                    .current = !candidate.yanked,
                    .wheel = std::move(*wheel),
                    .rank = *rank};
      if (!best || found.is_better_than(*best)) {
        best = std::move(found);
      }
    } else {
      reach(Stage::other_tag);
    }
  }
  if (best) {
    selection.chosen = best->place;
  } else {
    selection.reason = reason_of(farthest, package, target_) +
                       (best_source ? ": there is only a source distribution" : "");
    if (best_source) {
      selection.source = best_source->place;
    }
  }
  return selection;
}

std::vector<Candidate> candidates_of(const LockedPackage& package) {
  std::vector<Candidate> candidates;
  for (const auto& file : package.files) {
    candidates.push_back({.name = file.name, .hashes = file.hashes});
  }
  return candidates;
}

Selection FileChooser::choose(const LockedPackage& package) const {
  return choose(package, candidates_of(package));
}

std::optional<std::string> FileChooser::obstacle(const LockedPackage& package) const {
  if (package.obstacle || package.source || package.files.empty()) {
    return package.obstacle;
  }
  auto selection = choose(package);
  return selection.chosen || selection.source ? std::nullopt
                                              : std::optional{std::move(selection.reason)};
}

namespace {

using python::Requirement;

/// A package and one of its extras; an empty extra means the package itself.
using Node = std::pair<std::string, std::string>;

class Walk {
public:
  Walk(const LockedSet& set,
       const std::map<std::string, Needs>& needs,
       const python::Interpreter& interpreter)
      : needs_{&needs},
        provided_{&set.provided},
        overridden_{&set.overridden},
        environment_{python::marker_environment(interpreter)} {
    for (const auto& package : set.packages) {
      packages_.emplace(package.name, &package);
      visit({package.name, ""});
      for (const auto& extra : package.extras) {
        visit({package.name, extra});
      }
    }
  }

  void take(const Needs& needs, const std::string& who, const std::string& extra) {
    environment_.extras.clear();
    if (!extra.empty()) {
      environment_.extras.push_back(extra);
    }
    for (const auto& line : needs.requirements) {
      follow(python::parse_requirement(line), line, who);
    }
  }

  std::vector<std::string> run() {
    while (!queue_.empty()) {
      const auto [name, extra] = std::move(queue_.front());
      queue_.pop_front();
      if (const auto found = needs_->find(name); found != needs_->end()) {
        current_ = name;
        const auto& origin = found->second.origin;
        take(found->second, origin ? *origin : fmt::format("`{}`", name), extra);
      }
    }
    project::sort_unique(missing_);
    return std::move(missing_);
  }

  /// Of run(), as are the requirers.
  std::vector<std::string> absent() && { return std::move(absent_); }

  std::map<std::string, std::set<std::string>> requirers() && { return std::move(requirers_); }

private:
  void visit(Node node) {
    if (seen_.insert(node).second) {
      queue_.push_back(std::move(node));
    }
  }

  void follow(const Requirement& requirement, const std::string& line, const std::string& who) {
    if (requirement.kind == Requirement::Kind::malformed || !requirement.name) {
      missing_.push_back(fmt::format("{} needs `{}`, which cannot be read", who, printable(line)));
      return;
    }
    if (requirement.marker) {
      const auto marker = python::Marker::parse(*requirement.marker);
      const auto holds = marker ? marker->holds_in(environment_) : std::nullopt;
      if (!holds) {
        missing_.push_back(
            fmt::format("{} needs `{}`, whose marker cannot be evaluated", who, printable(line)));
      }
      if (holds != true) {
        return;
      }
    }
    const auto& name = *requirement.name;
    const auto found = packages_.find(name);
    const bool is_overridden = overridden_->contains(name);
    if (found == packages_.end() && (is_overridden || is_provided(requirement))) {
      return;
    }
    if (found == packages_.end()) {
      missing_.push_back(
          fmt::format("{} needs `{}`, which is not pinned", who, shown(requirement)));
      absent_.push_back(fmt::format("the wheel of {} requires `{}`", who, shown(requirement)));
      return;
    }
    if (!current_.empty() && current_ != name) {
      requirers_[name].insert(current_);
    }
    const auto& version = found->second->version;
    const auto conditions = python::SpecifierSet::parse(requirement.rest);
    if (version && !is_overridden &&
        (!conditions || !conditions->contains(*version, python::Prereleases::allowed))) {
      missing_.push_back(fmt::format("{} needs `{}`, but {} pins {}", who, shown(requirement),
                                     found->second->place, version->str()));
    }
    visit({name, ""});
    for (const auto& extra : requirement.extras) {
      visit({name, extra});
    }
  }

  /// The image has it, with all that it needs.
  bool is_provided(const Requirement& requirement) const {
    const auto found = provided_->find(*requirement.name);
    const auto conditions = python::SpecifierSet::parse(requirement.rest);
    return found != provided_->end() && conditions &&
           conditions->contains(found->second, python::Prereleases::allowed);
  }

  static std::string shown(Requirement requirement) {
    requirement.marker.reset();
    return printable(python::normalised(requirement));
  }

  const std::map<std::string, Needs>* needs_;
  const std::map<std::string, python::Version>* provided_;
  const std::set<std::string>* overridden_;
  python::MarkerEnvironment environment_;
  std::map<std::string, const LockedPackage*> packages_;
  std::set<Node> seen_;
  std::deque<Node> queue_;
  std::string current_;  ///< the package whose requirements are followed; empty: the project
  std::map<std::string, std::set<std::string>> requirers_;
  std::vector<std::string> missing_;
  std::vector<std::string> absent_;
};

}  // namespace

std::vector<std::string> missing_requirements(const LockedSet& set,
                                              const std::map<std::string, Needs>& needs,
                                              const Needs& project,
                                              const python::Interpreter& interpreter) {
  Walk walk{set, needs, interpreter};
  walk.take(project, project.origin.value_or("the project"), "");
  return walk.run();
}

std::vector<std::string> absent_requirements(const LockedSet& set,
                                             const std::map<std::string, Needs>& needs,
                                             const python::Interpreter& interpreter) {
  Walk walk{set, needs, interpreter};
  walk.run();
  return std::move(walk).absent();
}

std::map<std::string, std::set<std::string>> requirers(const LockedSet& set,
                                                       const std::map<std::string, Needs>& needs,
                                                       const python::Interpreter& interpreter) {
  Walk walk{set, needs, interpreter};
  walk.run();
  return std::move(walk).requirers();
}

}  // namespace autopack::lock
