#include "project/program/submodules.hpp"

#include "base/text.hpp"
#include "source/walk.hpp"

namespace autopack::project {

namespace {

constexpr std::uint64_t largest_file{1'000'000};

}  // namespace

std::vector<std::string> empty_submodules(const Findings& findings) {
  const auto entry = findings.tree().find(modules_file);
  if (!entry || entry->type != source::EntryType::file || entry->size > largest_file) {
    return {};
  }
  std::vector<std::string> paths;
  for (const std::string& line : split(findings.tree().read(modules_file), '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string::npos || trim(std::string_view{line}.substr(0, equals)) != "path") {
      continue;
    }
    const auto path = source::normalise(trim(std::string_view{line}.substr(equals + 1)));
    if (path && !path->empty() && findings.is_directory(*path) &&
        findings.tree().list(*path).empty() && !findings.is_ignored(*path)) {
      paths.push_back(*path);
    }
  }
  return paths;
}

}  // namespace autopack::project
