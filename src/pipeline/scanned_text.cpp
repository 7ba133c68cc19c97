#include "pipeline/scanned_text.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

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

}  // namespace

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
  text += fmt::format(": {} `{}`", kind_of(plan.entry), printable(plan.entry.value));
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

std::optional<std::string> kept_text(const packaging::ScannedProject& scanned) {
  constexpr std::size_t most_told{3};
  const auto kept = scanned.project.ignore.kept();
  if (kept.empty()) {
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const auto& [path, why] : kept) {
    if (names.size() < most_told) {
      names.push_back(fmt::format("`{}`", printable(path)));
    }
  }
  const std::string more =
      kept.size() > names.size() ? fmt::format(" and {} more", kept.size() - names.size()) : "";
  return fmt::format("{}{} too, which git ignores and the program needs", join(names, ", "), more);
}

std::optional<std::string> ignored_text(const packaging::ScannedProject& scanned) {
  const auto& directories = scanned.project.ignored_directories;
  if (directories.empty()) {
    return std::nullopt;
  }
  const auto& first = directories.front();
  const std::string more =
      directories.size() > 1 ? fmt::format(" (and {} more)", directories.size() - 1) : "";
  return fmt::format("`{}`{}, which git ignores and `{}` line {} names; `{}` takes it in",
                     printable(first.path), more, printable(first.from), first.line,
                     source::include_flag(first.path));
}

}  // namespace autopack::pipeline
