#include "pipeline/advice.hpp"

#include "pipeline/base_modules.hpp"
#include "pipeline/scan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::pipeline {

namespace {

constexpr std::size_t most_told{3};

}  // namespace

AdviceQuestion::AdviceQuestion(Services& services,
                               const PackageRequest& request,
                               const Scanned& scanned,
                               const plan::Plan& plan)
    : services_{services}, scanned_{scanned}, plan_{plan} {
  if (!is_from_git(request)) {
    imports_ = in_background(
        [&plan, &project = scanned.project] { return plan::walk_imports(plan, project); });
  }
}

plan::Advice AdviceQuestion::answer(LookInto look) {
  auto imports = imports_.valid() ? imports_.get() : plan::walk_imports(plan_, scanned_.project);
  auto advice = plan::advice(plan_, scanned_.project, std::move(imports), [&](const auto& names) {
    return known_contents(services_, plan_.base, names, look == LookInto::engine);
  });
  for (const auto& detail : advice.details) {
    services_.reporter->detail(detail);
  }
  return advice;
}

void tell_briefly(Services& services, const plan::Advice& advice) {
  const auto& all = advice.warnings;
  for (std::size_t i = 0; i < std::min(all.size(), most_told); ++i) {
    Problem brief = all[i];
    brief.hints.clear();
    if (i + 1 == std::min(all.size(), most_told)) {
      brief.hints = {all.size() > most_told
                         ? fmt::format("`autopack explain` tells {} more, and what to do",
                                       all.size() - most_told)
                         : "`autopack explain` tells what to do"};
    }
    services.reporter->warn(brief);
  }
}

void refuse_warnings(const Scanned& scanned, const plan::Plan& plan, const plan::Advice& advice) {
  Problems problems;
  for (const auto* warnings : {&scanned.project.warnings, &plan.warnings, &advice.warnings}) {
    for (Problem problem : *warnings) {
      const bool is_told = std::any_of(problems.begin(), problems.end(), [&](const auto& other) {
        return other.message == problem.message;
      });
      problem.severity = Problem::Severity::error;
      if (!is_told) {
        problems.push_back(std::move(problem));
      }
    }
  }
  throw_if_errors(problems, ErrorKind::project);
}

}  // namespace autopack::pipeline
