#include "cli/submission_request.hpp"

#include <algorithm>
#include <filesystem>

namespace autopack::cli {

namespace {

void add_hypertune(std::vector<job::PoolFlags>& pools,
                   std::vector<job::PoolFlags>::iterator packaged,
                   Problems& problems) {
  if (packaged == pools.end()) {
    problems.push_back({.message = "nothing is packaged that cloudml-hypertune could be added to",
                        .origin = "`--with-hypertune`",
                        .hints = {"package a directory: local-package-path=. in the pool"}});
    return;
  }
  if (!packaged->requirements) {
    packaged->requirements.emplace();
  }
  packaged->requirements->emplace_back("cloudml-hypertune");
}

}  // namespace

pipeline::SubmissionRequest read_submission_request(const Session& session,
                                                    const JobOptions& job,
                                                    const BuildOptions& build,
                                                    bool skip_checks) {
  pipeline::SubmissionRequest request{.location = find_location(session),
                                      .checks = {.skip_tables = skip_checks, .today = today()}};
  request.flags = job_flags(job, session.flags, request.earlier);
  request.flags.tune = job.tunes;
  request.flags.own_dockerfile = !build.dockerfile.empty();
  request.config = read_config(session.flags.given("--config"), build.source,
                               session.services.environment, request.earlier);
  auto& pools = request.flags.pools;
  const auto packaged = std::find_if(pools.begin(), pools.end(), [](const job::PoolFlags& pool) {
    return pool.local_package_path.has_value();
  });
  if (job.with_hypertune) {
    add_hypertune(pools, packaged, request.earlier);
  }
  std::filesystem::path directory = ".";
  if (packaged != pools.end()) {
    request.package =
        package_request(*packaged, request.flags.command, build, session.services.environment);
    request.package->tells_git = session.format.kind != OutputFormat::Kind::text;
    request.output_image = packaged->output_image_uri.value_or("");
    directory = request.package->project.directory;
  }
  request.flags.default_display_name = directory_name(directory);
  return request;
}

}  // namespace autopack::cli
