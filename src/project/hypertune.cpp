#include "project/hypertune.hpp"

#include "base/text.hpp"
#include "project/findings.hpp"

#include <algorithm>

namespace autopack::project {

namespace {

constexpr std::uint64_t largest_module = 1U << 20U;  // bytes; code that people write is smaller

bool names_distribution(const std::string& text) {
  return replace_all(to_lower(text), "_", "-").find("cloudml-hypertune") != std::string::npos;
}

bool imports(const std::string& code) {
  return code.find("import hypertune") != std::string::npos ||
         code.find("from hypertune") != std::string::npos;
}

bool is_required(const source::Tree& tree, const Project& project) {
  const auto any = [](const std::vector<std::string>& texts) {
    return std::any_of(texts.begin(), texts.end(), names_distribution);
  };
  if (any(project.requirements) || any(project.normalised_requirements) ||
      any(project.extra_packages)) {
    return true;
  }
  const auto files = project.package ? project.package->metadata_files : std::vector<std::string>{};
  return std::any_of(files.begin(), files.end(),
                     [&](const std::string& file) { return names_distribution(tree.read(file)); });
}

bool is_imported(const source::Tree& tree, const Project& project) {
  const auto files = Findings{tree, project.ignore}.files_below("");
  return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
    if (!file.ends_with(".py")) {
      return false;
    }
    const auto entry = tree.find(file);
    return entry && entry->type == source::EntryType::file && entry->size <= largest_module &&
           imports(tree.read(file));
  });
}

}  // namespace

bool names_hypertune(const source::Tree& tree, const Project& project) {
  return is_required(tree, project) || is_imported(tree, project);
}

}  // namespace autopack::project
