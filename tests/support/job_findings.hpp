#pragma once

#include "base/error.hpp"
#include "job/make_job.hpp"
#include "support/job_arguments.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace autopack::testing {

/// An invalid job, and its findings.
struct Case {
  std::vector<std::string> argv{};
  std::string config{};
  std::vector<std::string> findings{};  ///< a fragment of each, "MESSAGE (ORIGIN)"
};

inline Problems findings_of(const Case& bad, const job::CheckOptions& options = {}) {
  auto arguments = read_job_arguments(bad.argv);
  arguments.location.project = "p";
  arguments.location.region_origin = job::Origin::flag("--region");
  if (!arguments.location.region) {
    arguments.location.region = "us-central1";
  }
  arguments.flags.default_display_name = "directory";
  std::optional<job::Config> config;
  if (!bad.config.empty()) {
    config = job::parse_config(bad.config, "job.yaml", arguments.problems);
  }
  try {
    const auto made = job::make_job(arguments.flags, config ? &*config : nullptr,
                                    arguments.location, options, arguments.problems);
    return made.warnings;
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.problems();
  }
}

inline bool tells(const Problems& problems, const std::string& fragment) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& p) {
    return (p.message + " (" + p.origin.value_or("") + ")").find(fragment) != std::string::npos;
  });
}

inline void check_all(const std::vector<Case>& cases, Problem::Severity severity) {
  for (const auto& bad : cases) {
    auto problems = findings_of(bad);
    if (severity == Problem::Severity::error) {
      std::erase_if(problems,
                    [](const Problem& p) { return p.severity != Problem::Severity::error; });
    }
    std::string told;
    for (const auto& problem : problems) {
      told += problem.message + " (" + problem.origin.value_or("") + ")\n";
    }
    CAPTURE(told);
    for (const auto& finding : bad.findings) {
      CAPTURE(finding);
      CHECK(tells(problems, finding));
    }
    CHECK(problems.size() == bad.findings.size());
    CHECK(std::all_of(problems.begin(), problems.end(),
                      [&](const Problem& p) { return p.severity == severity; }));
  }
}

}  // namespace autopack::testing
