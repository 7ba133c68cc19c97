#include "build/docker/step_names.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "engine/dockerfile_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace autopack::build {

namespace {

/// The limit for names of files and packages.
constexpr std::size_t most_named{3};

std::string some_of(std::vector<std::string> names) {
  const auto count = names.size();
  if (count > most_named) {
    names.resize(most_named);
    names.push_back(fmt::format("{} more", count - most_named));
  }
  return join(names, ", ");
}

/// Counts the requirements in the files; 0 if they cannot be counted.
std::size_t count_requirements(const plan::ReadablePlan& plan) {
  std::size_t count = plan.dependencies.requirements.size();
  for (const auto& entry : plan.dependencies.inputs) {
    const auto& files = plan.dependencies.requirement_files;
    if (entry.type != source::EntryType::file || entry.tree >= plan.trees.size() ||
        !contains(files, entry.path)) {
      continue;
    }
    for (const auto& line : split(plan.read(entry), '\n')) {
      const auto text = trim(line);
      const bool asks = !text.empty() && text.front() != '#' && text.front() != '-';
      count += asks ? 1U : 0U;
    }
  }
  return count;
}

std::string installation(const plan::ReadablePlan& plan) {
  const auto& dependencies = plan.dependencies;
  if (dependencies.lock) {
    return fmt::format("install the packages of {}", dependencies.lock->file);
  }
  auto names = dependencies.requirement_files;
  const bool has_files = !names.empty();
  for (const auto* more : {&dependencies.requirements, &dependencies.package_requirements}) {
    names.insert(names.end(), more->begin(), more->end());
  }
  const auto count = has_files ? count_requirements(plan) : 0;
  return fmt::format(
      "install {}{}", some_of(std::move(names)),
      count == 0 ? "" : fmt::format(" ({} package{})", count, count == 1 ? "" : "s"));
}

}  // namespace

std::string step_for_people(const ContextParts& parts, std::string_view step) {
  std::string own{step};
  if (parts.plan == nullptr || parts.plan->user_dockerfile) {
    return own;
  }
  const auto instruction = engine::instruction_of_step(parts.dockerfile, step);
  if (!instruction) {
    return own;
  }
  const auto& text = instruction->text;
  const auto holds = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  if (instruction->keyword == "COPY") {
    return holds("--from=observed") ? "copy the project's package" : "copy files";
  }
  if (instruction->keyword != "RUN") {
    return own;
  }
  if (holds("apt-get install")) {
    return "install " + some_of(parts.plan->dependencies.apt_packages);
  }
  if (holds("observe.py")) {
    return "install the project's package";
  }
  if (holds("cd /mnt")) {
    return installation(*parts.plan);
  }
  if (holds("-m pip install")) {
    return "install the project's package";
  }
  return holds("mkdir -p /usr/app") ? "make directories" : own;
}

}  // namespace autopack::build
