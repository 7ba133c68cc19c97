#include "pipeline/planning.hpp"

#include "base/text.hpp"
#include "packaging/wanted.hpp"
#include "pipeline/scan.hpp"
#include "pipeline/secrets.hpp"
#include "state/project_files.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace autopack::pipeline {

namespace {

std::string count_of(std::size_t number, const std::string& what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string_view kind_of(const project::Entry& entry) {
  switch (entry.kind) {
    case project::EntryKind::module:
    case project::EntryKind::installed_module: return "module";
    case project::EntryKind::program: return "command";
    default: return "script";
  }
}

/// Returns a summary of the image's files in one line: "42 files, 1.2 MB: module `trainer.task`,
/// `requirements.txt`".
std::string scanned_text(const plan::Plan& plan) {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  for (const auto& entry : plan.code) {
    if (entry.type != source::EntryType::directory) {
      ++files;
      bytes += entry.size;
    }
  }
  std::string text = fmt::format("{}, {}", count_of(files, "file"), human_size(bytes));
  if (plan.user_dockerfile) {
    return text + fmt::format(" for `{}`", *plan.user_dockerfile);
  }
  text += plan.notebook
              ? fmt::format(": notebook `{}`", printable(*plan.notebook))
              : fmt::format(": {} `{}`", kind_of(plan.entry), printable(plan.entry.value));
  if (plan.dependencies.lock) {
    text += fmt::format(", `{}`", printable(plan.dependencies.lock->file));
  }
  for (const auto& file : plan.dependencies.requirement_files) {
    text += fmt::format(", `{}`", file);
  }
  if (!plan.dependencies.requirements.empty()) {
    text += ", " + count_of(plan.dependencies.requirements.size(), "more requirement");
  }
  if (!plan.dependencies.packages.empty()) {
    text += ", " + count_of(plan.dependencies.packages.size(), "extra package");
  }
  if (plan.dependencies.install) {
    text +=
        plan.dependencies.installs_root
            ? ", the project's own package"
            : ", " + count_of(plan.dependencies.members.size(), "package") + " of the workspace";
  }
  return text;
}

/// Returns the files that are included although git ignores them, in one line.
std::optional<std::string> kept_text(const packaging::ScannedProject& scanned) {
  constexpr std::size_t most_reported{3};
  const auto kept = scanned.project.ignore.kept();
  if (kept.empty()) {
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const auto& [path, why] : kept) {
    if (names.size() < most_reported) {
      names.push_back(fmt::format("`{}`", printable(path)));
    }
  }
  const std::string more =
      kept.size() > names.size() ? fmt::format(" and {} more", kept.size() - names.size()) : "";
  return fmt::format("{}{} too, which git ignores and the program needs", join(names, ", "), more);
}

/// Returns the files that are excluded because git ignores them, though the program names them, in
/// one line.
std::optional<std::string> ignored_text(const packaging::ScannedProject& scanned) {
  const auto& directories = scanned.project.ignored_directories;
  if (directories.empty()) {
    return std::nullopt;
  }
  const auto& first = directories.front();
  const std::string more =
      directories.size() > 1 ? fmt::format(" (and {} more)", directories.size() - 1) : "";
  return fmt::format("`{}`{}, which git ignores and `{}` line {} names; `{}` includes it",
                     printable(first.path), more, printable(first.from), first.line,
                     source::include_flag(first.path));
}

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

namespace {

StepEvent reading(StepEvent::State state) {
  return {.id = "read-project", .name = "read the files of the project", .state = state};
}

}  // namespace

ReadingStep::ReadingStep(Reporter& reporter, const packaging::Request& request)
    : reporter_{reporter}, count_{request.read_count} {
  reporter_.step(reading(StepEvent::State::started));
  count_->set_report([&reporter](std::uint64_t files, std::uint64_t bytes) {
    auto event = reading(StepEvent::State::progress);
    event.name = fmt::format("read {} files of the project", files);
    event.current = bytes;
    reporter.step(event);
  });
}

ReadingStep::~ReadingStep() {
  count_->set_report({});
  reporter_.step(reading(StepEvent::State::cached));
}

Packaging plan_packaging(Services& services,
                         const WantedPtr& wanted,
                         const image::BaseFacts& executor) {
  const ReadingStep step{*services.reporter, wanted->request};
  return {wanted,
          with_secrets(
              *wanted->scanned.tree, [&] { return wanted->scanned.project.ignore; },
              [&] { return make_plan(services, *wanted, executor); }),
          services.build_records.get(wanted->request.project.directory,
                                     wanted->request.options.platform)};
}

std::string to_text(const project::Inferred& inferred) {
  const auto& [what, value, reason, flag] = inferred;
  return fmt::format("{} `{}`: {} (`{}` names another)", what, printable(value), reason, flag);
}

void report_inferred(Reporter& reporter, const std::vector<project::Inferred>& inferred) {
  for (const auto& one : inferred) {
    reporter.done("Inferred", to_text(one));
  }
}

void report_choices(Services& services,
                    const packaging::Wanted* wanted,
                    const std::vector<project::Inferred>& inferred) {
  auto& reporter = *services.reporter;
  const bool is_known =
      wanted != nullptr && services.build_records.get(wanted->request.project.directory,
                                                      wanted->request.options.platform);
  if (!is_known) {
    report_inferred(reporter, inferred);
    return;
  }
  std::vector<std::string> values;
  for (const auto& one : inferred) {
    values.push_back(fmt::format("{} `{}`", one.what, printable(one.value)));
    reporter.detail("inferred " + to_text(one));
  }
  if (!values.empty()) {
    reporter.done("Using", join(values, ", ") + " (`-v` prints why)");
  }
}

void report_scanned(Reporter& reporter, const Packaging& work) {
  reporter.done("Scanned", scanned_text(work.plan()));
  if (const auto kept = kept_text(work.scanned())) {
    reporter.done("Took", *kept);
  }
  if (const auto ignored = ignored_text(work.scanned())) {
    reporter.done("Left out", *ignored);
  }
}

}  // namespace autopack::pipeline
