#include "build/wheels/required_hashes.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "lock/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace autopack::build {

namespace {

struct Allowed {
  std::vector<std::string> hashes{};  ///< `sha256:...`
  std::string origin{};               ///< `requirements.txt:3`
};

std::map<std::string, Allowed> allowed_hashes(const project::Project& project) {
  std::map<std::string, Allowed> allowed;
  for (const auto& listed : project.listed_requirements) {
    if (listed.requirement.name && !listed.hashes.empty()) {
      auto& [hashes, origin] = allowed[*listed.requirement.name];
      hashes.insert(hashes.end(), listed.hashes.begin(), listed.hashes.end());
      origin = origin.empty() ? listed.origin : origin;
    }
  }
  return allowed;
}

/// Returns true if only requirements files say what is installed. pip installs the rest apart,
/// without hashes.
bool has_only_files(const project::Project& project) {
  return project.requirements.empty() && project.extra_packages.empty() &&
         project.outside_packages.empty() && !project.package;
}

}  // namespace

void check_required_hashes(const project::Project& project,
                           const lock::LockedSet& set,
                           const python::Interpreter& interpreter) {
  if (!project.hashed) {
    return;
  }
  const auto allowed = allowed_hashes(project);
  const lock::FileChooser files{interpreter};
  Problems problems;
  for (const auto& package : set.packages) {
    const auto found = allowed.find(package.name);
    if (found == allowed.end() && !has_only_files(project)) {
      continue;
    }
    if (found == allowed.end()) {
      problems.push_back(
          {.message = fmt::format("the requirements have hashes, but `{}`, which they require, has "
                                  "none",
                                  package.name),
           .hints = {"`pip-compile --generate-hashes` and `uv pip compile --generate-hashes` write "
                     "the hashes of all requirements"}});
      continue;
    }
    const auto choice = package.files.empty() ? lock::Selection{} : files.choose(package);
    const auto place = choice.chosen ? choice.chosen : choice.source;
    const bool has_one =
        place && std::ranges::any_of(package.files[*place].hashes, [&](const auto& hash) {
          return contains(found->second.hashes, hash.str());
        });
    if (!has_one) {
      problems.push_back(
          {.message = fmt::format("the index has `{}` {} with another hash than its requirement",
                                  package.name, package.version ? package.version->str() : ""),
           .origin = found->second.origin,
           .hints = {"pin the version with `==`, and renew its hashes"}});
    }
  }
  throw_if_errors(problems, ErrorKind::project);
}

}  // namespace autopack::build
