#include "project/program/hypertune.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/code/python_file.hpp"
#include "project/findings.hpp"
#include "project/program/named_distributions.hpp"

#include <algorithm>

namespace autopack::project {

namespace {

constexpr std::uint64_t largest_module = 1U << 20U;  // bytes; handwritten code is smaller

constexpr auto distribution = "cloudml-hypertune";
constexpr auto module = "hypertune";

bool imports_it(const std::string& code) {
  if (code.find(module) == std::string::npos) {
    return false;
  }
  const auto imports = read_python_file(code).imports;
  return std::ranges::any_of(imports, [](const Import& one) {
    return one.level == 0 && split(one.module, '.').front() == module;
  });
}

bool is_required(const source::Tree& tree, const Project& project) {
  const auto names = named_distributions(tree, project).names;
  return contains(names, distribution);
}

bool is_imported(const source::Tree& tree, const Project& project) {
  const auto files = Findings{tree, project.ignore}.files_below("");
  return std::ranges::any_of(files, [&](const std::string& file) {
    if (!file.ends_with(".py")) {
      return false;
    }
    const auto entry = tree.find(file);
    return entry && entry->type == source::EntryType::file && entry->size <= largest_module &&
           imports_it(tree.read(file));
  });
}

}  // namespace

bool names_hypertune(const source::Tree& tree, const Project& project) {
  return is_required(tree, project) || is_imported(tree, project);
}

}  // namespace autopack::project
