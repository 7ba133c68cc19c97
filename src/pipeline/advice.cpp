#include "pipeline/advice.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::pipeline {

namespace {

constexpr std::size_t most_told{3};

/// Tells the warnings in one line each, the first of them only; one that is alone with what to do.
void tell_briefly(const Services& services, const plan::Advice& advice) {
  const auto& all = advice.warnings;
  if (all.size() == 1) {
    services.reporter->warn(all.front());
    return;
  }
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

}  // namespace

Adviser::Adviser(Services& services, const packaging::Packaging& work)
    : services_{services}, work_{work} {
  if (!work.request().is_from_git()) {
    imports_ = in_background([&plan = work.plan(), &project = work.scanned().project] {
      return plan::walk_imports(plan, project);
    });
  }
}

plan::Advice Adviser::advice(executor::LookInto look) {
  const auto& plan = work_.plan();
  const auto& project = work_.scanned().project;
  auto imports = imports_.valid() ? imports_.get() : plan::walk_imports(plan, project);
  auto advice = plan::advice(plan, project, std::move(imports), [&](const auto& names) {
    return executor::known_contents(services_, plan.base, names, look);
  });
  for (const auto& detail : advice.details) {
    services_.reporter->detail(detail);
  }
  return advice;
}

void Adviser::tell_before_making() {
  const bool takes_minutes =
      work_.comparison().is_first || !work_.comparison().changes.dependencies.empty();
  if (work_.request().strict) {
    refuse_warnings(work_, advice(executor::LookInto::engine));
    told_ = true;
  } else if (takes_minutes) {
    tell_briefly(services_, advice(executor::LookInto::engine));
    told_ = true;
  }
}

void Adviser::tell_after_making() {
  if (!told_) {
    tell_briefly(services_, advice(executor::LookInto::engine));
    told_ = true;
  }
}

void Adviser::tell_all(executor::LookInto look) {
  const auto all = advice(look);
  for (const auto& warning : all.warnings) {
    services_.reporter->warn(warning);
  }
  if (work_.request().strict) {
    refuse_warnings(work_, all);
  }
}

void refuse_warnings(const packaging::Packaging& work, const plan::Advice& advice) {
  Problems problems;
  for (const auto* warnings :
       {&work.scanned().project.warnings, &work.plan().warnings, &advice.warnings}) {
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
