#include "plan/copies.hpp"

#include "base/text.hpp"
#include "project/findings.hpp"

#include <fmt/core.h>

namespace autopack::plan {

namespace {

/// Returns a copy of `path` to itself, or of its target if it is a link; `.` and "" are the whole
/// tree.
Copy same_place(const source::Tree& tree, const std::string& path) {
  if (path.empty() || path == ".") {
    return {};
  }
  const project::Place place = project::Findings{tree, source::Selection{}}.follow(path);
  const bool found = place.kind == project::Place::Kind::found;
  return {.source = found ? place.entry.path : path,
          .destination = path,
          .is_directory = !found || place.is_directory()};
}

Copy of_extra(const project::Extra& extra, const std::string& destination) {
  return {.source = fmt::format("{}/{}", extras_directory, extra.name),
          .destination = destination,
          .is_directory = extra.is_directory};
}

bool is_in_place(const Copy& copy) {
  return copy.source == copy.destination && !copy.source.starts_with(extras_directory);
}

bool covers(const Copy& outer, const Copy& inner) {
  return is_in_place(outer) && is_in_place(inner) && outer.is_directory &&
         (outer.source.empty() || inner.source == outer.source ||
          inner.source.starts_with(outer.source + "/"));
}

std::vector<Copy> without_covered(const std::vector<Copy>& copies) {
  std::vector<Copy> kept;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    bool redundant = false;
    for (std::size_t j = 0; j < copies.size() && !redundant; ++j) {
      redundant = j != i && covers(copies[j], copies[i]) && (copies[j] != copies[i] || j > i);
    }
    if (!redundant) {
      kept.push_back(copies[i]);
    }
  }
  return kept;
}

}  // namespace

std::vector<Copy> code_copies(const project::Project& project) {
  std::vector<Copy> copies;
  for (const project::Extra& extra : project.outside_dirs) {
    copies.push_back(of_extra(extra, extra.name));
  }
  copies.emplace_back();
  return copies;
}

std::vector<Copy> requirement_copies(const source::Tree& tree, const project::Project& project) {
  std::vector<Copy> copies;
  for (const std::string& path : project.requirement_inputs) {
    copies.push_back(same_place(tree, path));
  }
  for (const std::string& path : project.extra_packages) {
    copies.push_back(same_place(tree, path));
  }
  for (const project::Extra& extra : project.outside_packages) {
    Copy copy = of_extra(extra, "");
    copy.destination = copy.source;
    copies.push_back(std::move(copy));
  }
  return without_covered(copies);
}

std::vector<Copy> lock_files(const source::Tree& tree, const project::Project& project) {
  return project.lock ? std::vector{same_place(tree, project.lock->file)} : std::vector<Copy>{};
}

std::vector<Copy> package_files(const source::Tree& tree, const project::Package& package) {
  std::vector<Copy> copies;
  for (const std::string& path : package.files) {
    copies.push_back(same_place(tree, path));
  }
  return copies;
}

}  // namespace autopack::plan
