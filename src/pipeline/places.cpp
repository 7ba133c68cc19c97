#include "pipeline/places.hpp"

#include "base/contains.hpp"
#include "preflight/rules.hpp"
#include "publish/copied.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace autopack::pipeline {

namespace {

/// A place with what is wrong about it.
struct Judged {
  PlannedPlace place{};
  Problems errors{};
};

Judged judge(const SubmissionRequest& request, const job::Candidate& candidate) {
  Judged judged{.place = {.candidate = candidate, .request = request_for(request, candidate)}};
  const auto& own = judged.place.request;
  const auto* const config = own.config ? &*own.config : nullptr;
  try {
    judged.place.job = job::make_job(own.flags, config, own.location, own.checks, own.earlier).job;
    judged.errors = preflight::check_offline(preflight::read_job(judged.place.job, own.location),
                                             !own.checks.skip_tables);
  } catch (const Error& error) {
    judged.errors = error.as_problems();
  }
  std::erase_if(judged.errors, [](const Problem& problem) {
    return problem.severity != Problem::Severity::error;
  });
  return judged;
}

bool has(const Problems& problems, const std::string& message) {
  return std::ranges::any_of(problems, [&](const auto& one) { return one.message == message; });
}

/// Removes the errors that all places have: the place is not their cause.
void forget_common(std::vector<Judged>& all) {
  const auto first = all.front().errors;
  for (const auto& problem : first) {
    const bool is_common = std::ranges::all_of(
        all, [&](const Judged& judged) { return has(judged.errors, problem.message); });
    if (is_common) {
      for (auto& judged : all) {
        std::erase_if(judged.errors,
                      [&](const Problem& one) { return one.message == problem.message; });
      }
    }
  }
}

Problem about(const job::Candidate& candidate, Problem problem, const char* what) {
  problem.message = fmt::format("{}{}: {}", to_string(candidate), what, problem.message);
  return problem;
}

/// Removes the places with errors, which it reports.
void drop(Services& services, std::vector<Judged>& all, ErrorKind kind) {
  if (std::ranges::all_of(all, [](const Judged& judged) { return !judged.errors.empty(); })) {
    Problems reasons;
    for (const auto& judged : all) {
      for (const auto& problem : judged.errors) {
        reasons.push_back(about(judged.place.candidate, problem, ""));
      }
    }
    throw Error(kind, std::move(reasons));
  }
  for (const auto& judged : all) {
    for (const auto& problem : judged.errors) {
      auto warning = about(judged.place.candidate, problem, " is left out");
      warning.hints.clear();
      services.reporter->warn(Problem::warning(std::move(warning)));
    }
  }
  std::erase_if(all, [](const Judged& judged) { return !judged.errors.empty(); });
}

/// Returns the machine of the file's first pool.
std::optional<job::Machine> machine_of_file(const SubmissionRequest& request) {
  if (!request.config || request.config->job.spec.pools.empty()) {
    return std::nullopt;
  }
  return request.config->job.spec.pools.front().machine.value_or(job::Machine{});
}

}  // namespace

SubmissionRequest request_for(const SubmissionRequest& request, const job::Candidate& candidate) {
  auto own = request;
  own.location.region = candidate.region;
  if (!candidate.accelerator) {
    return own;
  }
  auto& pools = own.flags.pools;
  if (pools.empty()) {
    pools.emplace_back();
  }
  auto& pool = pools.front();
  pool.accelerator_type = candidate.accelerator;
  const auto of_file = machine_of_file(own);
  if (own.infers_machine && of_file) {
    pool.accelerator_count =
        pool.accelerator_count ? pool.accelerator_count : of_file->accelerators;
    pool.machine_type.reset();
    if (!job::supports(of_file->type.value_or(""), *candidate.accelerator,
                       pool.accelerator_count.value_or(1))) {
      pool.machine_type = job::usual_machine(pool);
    }
  } else if (own.infers_machine) {
    pool.machine_type = job::usual_machine(pool);
  }
  for (auto& inferred : own.inferred) {
    if (inferred.flag == "--machine-type" && pools.front().machine_type) {
      inferred.value = *pools.front().machine_type;
    }
  }
  return own;
}

std::vector<PlannedPlace> find_places(Services& services,
                                      const SubmissionRequest& request,
                                      const std::vector<job::Candidate>& candidates,
                                      const AskQuotas& ask) {
  std::vector<Judged> all;
  for (const auto& candidate : candidates) {
    all.push_back(judge(request, candidate));
  }
  forget_common(all);
  drop(services, all, ErrorKind::usage);
  if (ask && !request.checks.skip_tables) {
    std::vector<preflight::PlannedJob> jobs;
    for (const auto& judged : all) {
      jobs.push_back(preflight::read_job(judged.place.job, judged.place.request.location));
    }
    auto found = ask(jobs);
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::ranges::copy_if(
          found.at(i), std::back_inserter(all[i].errors),
          [](const Problem& problem) { return problem.severity == Problem::Severity::error; });
    }
    drop(services, all, ErrorKind::remote);
  }
  std::vector<PlannedPlace> places;
  for (auto& judged : all) {
    places.push_back(std::move(judged.place));
  }
  return places;
}

void copy_to_place(Services& services, const std::string& uri, const std::string& name) {
  publish::copy_image(services, image::Reference::parse(uri), image::Reference::parse(name));
}

}  // namespace autopack::pipeline
