#include "pipeline/planning.hpp"

#include "base/text.hpp"
#include "executor/contents.hpp"
#include "pipeline/scan.hpp"
#include "pipeline/scanned_text.hpp"
#include "plan/start_advice.hpp"
#include "state/project_files.hpp"

#include <fmt/format.h>

namespace autopack::pipeline {

namespace {

using packaging::Packaging;

plan::ReadablePlan make_plan(const Services& services,
                             const packaging::Wanted& wanted,
                             const image::BaseFacts& executor) {
  const auto& request = wanted.request;
  state::FileHashes hashes{state::hashes_file(services.environment.cache_directory(),
                                              request.project.directory, request.is_from_git()),
                           services.cancellation};
  plan::Options options = request.options;
  if (request.label_git && wanted.scanned.git) {
    options.labels = git_labels(*wanted.scanned.git);
  }
  options.hashes = &hashes;
  auto plan = plan::make_plan(wanted.scanned.tree, wanted.scanned.project, request.project,
                              executor, options);
  hashes.save();
  return plan;
}

/// Tells what may stop the program or the installation, and throws what will.
void tell_start(Services& services, const Packaging& work) {
  const auto& plan = work.plan();
  const auto problems = plan::start_advice(plan, work.scanned().project, [&](const auto& names) {
    return executor::known_contents(services, plan.base, names, executor::LookInto::engine);
  });
  Problems errors;
  for (const auto& problem : problems) {
    if (problem.severity == Problem::Severity::warning) {
      services.reporter->warn(problem);
    } else {
      errors.push_back(problem);
    }
  }
  throw_if_errors(errors, ErrorKind::project);
}

}  // namespace

Packaging plan_packaging(Services& services,
                         const WantedPtr& wanted,
                         const image::BaseFacts& executor) {
  return {wanted, make_plan(services, *wanted, executor),
          services.build_records.get(wanted->request.project.directory,
                                     wanted->request.options.platform)};
}

void tell_inferred(Reporter& reporter, const std::vector<project::Inferred>& inferred) {
  for (const auto& [what, value, reason, flag] : inferred) {
    reporter.done("Inferred", fmt::format("{} `{}`: {} (`{}` names another)", what,
                                          printable(value), reason, flag));
  }
}

void tell_plan(Services& services, const Packaging& work) {
  for (const auto& warning : work.plan().warnings) {  // the project's are among them
    services.reporter->warn(warning);
  }
  tell_start(services, work);
  services.reporter->done("Scanned", scanned_text(work.plan()));
  if (const auto kept = kept_text(work.scanned())) {
    services.reporter->done("Took", *kept);
  }
  if (const auto ignored = ignored_text(work.scanned())) {
    services.reporter->done("Left out", *ignored);
  }
}

}  // namespace autopack::pipeline
