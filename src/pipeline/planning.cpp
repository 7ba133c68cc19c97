#include "pipeline/planning.hpp"

#include "base/text.hpp"
#include "pipeline/scan.hpp"
#include "pipeline/scanned_text.hpp"
#include "pipeline/secrets.hpp"
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

}  // namespace

Packaging plan_packaging(Services& services,
                         const WantedPtr& wanted,
                         const image::BaseFacts& executor) {
  return {wanted,
          with_secrets(
              *wanted->scanned.tree, [&] { return wanted->scanned.project.ignore; },
              [&] { return make_plan(services, *wanted, executor); }),
          services.build_records.get(wanted->request.project.directory,
                                     wanted->request.options.platform)};
}

void tell_inferred(Reporter& reporter, const std::vector<project::Inferred>& inferred) {
  for (const auto& [what, value, reason, flag] : inferred) {
    reporter.done("Inferred", fmt::format("{} `{}`: {} (`{}` names another)", what,
                                          printable(value), reason, flag));
  }
}

void tell_scanned(Reporter& reporter, const Packaging& work) {
  reporter.done("Scanned", scanned_text(work.plan()));
  if (const auto kept = kept_text(work.scanned())) {
    reporter.done("Took", *kept);
  }
  if (const auto ignored = ignored_text(work.scanned())) {
    reporter.done("Left out", *ignored);
  }
}

}  // namespace autopack::pipeline
