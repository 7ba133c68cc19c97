#include "pipeline/advice.hpp"

#include "executor/python_facts.hpp"
#include "pipeline/python_syntax.hpp"
#include "plan/data_workers.hpp"
#include "plan/path_advice.hpp"
#include "plan/start_advice.hpp"
#include "project/certain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::pipeline {

namespace {

using Severity = Problem::Severity;

constexpr auto* sends_anyway = "`--skip-checks=program` sends it anyway";

/// Returns `all` with the severity for `request`, without duplicate messages.
Problems settle(const packaging::Request& request, const Problems& all) {
  Problems settled;
  Problem* last_certain = nullptr;
  settled.reserve(all.size());
  for (const Problem& problem : all) {
    const auto is_same = [&](const Problem& other) { return other.message == problem.message; };
    if (std::ranges::any_of(settled, is_same)) {
      continue;
    }
    auto& added = settled.emplace_back(problem);
    if (added.severity == Severity::warning) {
      const bool is_refused = request.refuses_certain && project::is_certain(added);
      added.severity = is_refused || request.strict ? Severity::error : Severity::warning;
      last_certain = is_refused ? &added : last_certain;
    }
  }
  if (last_certain != nullptr) {
    last_certain->hints.emplace_back(sends_anyway);
  }
  return settled;
}

/// The versions of what the executor image has installed; nothing if it cannot be read.
std::optional<std::map<std::string, std::string>> installed_versions(
    Services& services, const packaging::Packaging& work, executor::LookInto look) {
  std::optional<executor::PythonFacts> facts;
  try {
    facts = look == executor::LookInto::engine
                ? executor::python_facts(services, work.plan().base,
                                         executor::image_places(work.request()))
                : executor::known_python(services, work.plan().base);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) {
      throw;
    }
    services.reporter->detail(error.what());
  }
  if (!facts || !facts->interpreter) {
    return std::nullopt;
  }
  std::map<std::string, std::string> versions;
  for (const auto& one : facts->installed) {
    versions.emplace(one.name, one.version.value_or(""));
  }
  return versions;
}

}  // namespace

Adviser::Adviser(Services& services, const packaging::Packaging& work, Problems secrets)
    : services_{services}, work_{work}, secrets_{std::move(secrets)} {
  if (!work_.request().is_from_git()) {
    followed_ = in_background([&work] { return follow(work); });
  }
}

Adviser::Followed Adviser::follow(const packaging::Packaging& work) {
  Followed followed{.imports = plan::walk_imports(work.plan(), work.scanned().project)};
  followed.faults = judge_syntax(work, followed.imports.reached);
  append(followed.imports.problems,
         plan::path_advice(work.plan(), work.scanned().project, followed.imports.reached));
  if (auto workers = plan::data_worker_advice(work.plan(), followed.imports.reached)) {
    followed.imports.problems.push_back(*std::move(workers));
  }
  return followed;
}

const Problems& Adviser::early() {
  if (!early_) {
    early_ = plan::start_advice(work_.plan(), work_.scanned().project, [&](const auto& names) {
      return executor::known_contents(services_, work_.plan().base, names,
                                      executor::LookInto::engine);
    });
    early_->insert(early_->begin(), secrets_.begin(), secrets_.end());
  }
  return *early_;
}

const Problems& Adviser::late(executor::LookInto look) {
  if (!late_) {
    const auto& plan = work_.plan();
    const auto& project = work_.scanned().project;
    auto followed = followed_.valid() ? followed_.get() : follow(work_);
    auto advice = plan::advice(
        plan, project, std::move(followed.imports),
        [&](const auto& names) {
          return executor::known_contents(services_, plan.base, names, look);
        },
        followed.faults, [&] { return installed_versions(services_, work_, look); });
    for (const auto& detail : advice.details) {
      services_.reporter->detail(detail);
    }
    late_ = std::move(advice.warnings);
  }
  return *late_;
}

Problems Adviser::findings(executor::LookInto look) {
  Problems all = work_.plan().warnings;  // includes the project's
  append(all, early());
  append(all, late(look));
  return settle(work_.request(), all);
}

Problems Adviser::advice(executor::LookInto look) {
  Problems all = early();
  append(all, late(look));
  return settle(work_.request(), all);
}

void Adviser::tell(const Problems& found) const {
  for (const auto& problem : found) {
    if (problem.severity == Severity::warning) {
      services_.reporter->warn(problem);
    }
  }
  throw_if_errors(found, ErrorKind::project);
}

void Adviser::tell_plan() {
  Problems known = work_.plan().warnings;
  append(known, early());
  known = settle(work_.request(), known);
  tell(has_errors(known) ? findings(executor::LookInto::engine) : known);
}

void Adviser::tell_before_making() {
  const auto& request = work_.request();
  const bool takes_minutes =
      work_.comparison().is_first || !work_.comparison().changes.dependencies.empty();
  if (request.strict || request.refuses_certain || takes_minutes) {
    tell_all(executor::LookInto::engine);
  } else {
    tell_plan();
  }
}

void Adviser::tell_after_making() {
  if (!told_) {
    told_ = true;
    Problems rest = settle(work_.request(), late(executor::LookInto::engine));
    const auto& before = work_.plan().warnings;
    std::erase_if(rest, [&](const Problem& one) {
      const auto is_same = [&](const Problem& other) { return other.message == one.message; };
      return std::ranges::any_of(before, is_same) || std::ranges::any_of(early(), is_same);
    });
    tell(rest);
  }
}

void Adviser::tell_all(executor::LookInto look) {
  told_ = true;
  tell(findings(look));
}

}  // namespace autopack::pipeline
