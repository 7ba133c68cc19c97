#include "lock/completeness.hpp"

#include "base/text.hpp"
#include "project/findings.hpp"
#include "python/marker.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"

#include <fmt/format.h>

#include <deque>
#include <set>
#include <utility>

namespace autopack::lock {

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
        const auto& origin = found->second.origin;
        take(found->second, origin ? *origin : fmt::format("`{}`", name), extra);
      }
    }
    project::sort_unique(missing_);
    return std::move(missing_);
  }

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
    if (found == packages_.end() && is_provided(requirement)) {
      return;
    }
    if (found == packages_.end()) {
      missing_.push_back(
          fmt::format("{} needs `{}`, which is not pinned", who, shown(requirement)));
      return;
    }
    const auto& version = found->second->version;
    const auto conditions = python::SpecifierSet::parse(requirement.rest);
    if (version && (!conditions || !conditions->contains(*version, python::Prereleases::allowed))) {
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
  python::MarkerEnvironment environment_;
  std::map<std::string, const LockedPackage*> packages_;
  std::set<Node> seen_;
  std::deque<Node> queue_;
  std::vector<std::string> missing_;
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

}  // namespace autopack::lock
