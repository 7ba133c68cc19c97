#include "inventory/cleaning.hpp"

#include "base/contains.hpp"

#include <algorithm>

namespace autopack::inventory {

namespace {

void add_engines(Services& services, const CleaningScope& scope, std::vector<Leftover>& found) {
  for (const auto& name : services.docker().left_containers()) {
    found.push_back({.kind = Leftover::Kind::container, .name = name});
  }
  for (const auto& image : images_in_engine(services, scope.repositories)) {
    const bool is_kept = contains(scope.kept_keys, image.key);
    if (image.is_ours && !is_kept) {
      found.push_back({.kind = Leftover::Kind::image, .name = image.name, .size = image.size});
    }
  }
}

}  // namespace

std::vector<Leftover> find_leftovers(Services& services, const CleaningScope& scope) {
  std::vector<Leftover> found;
  if (scope.looks_into_engine) {
    add_engines(services, scope, found);
  }
  if (scope.kept_keys.empty()) {
    const auto& environment = services.environment;
    for (auto& part : scope.directory ? parts_of_project(environment, *scope.directory)
                                      : all_parts(environment)) {
      found.push_back({.kind = Leftover::Kind::cache,
                       .name = part.name,
                       .size = part.size,
                       .part = std::move(part)});
    }
  }
  return found;
}

void remove(Services& services, const Leftover& leftover) {
  switch (leftover.kind) {
    case Leftover::Kind::container: services.docker().remove_container(leftover.name); return;
    case Leftover::Kind::image: services.docker().remove_image(leftover.name); return;
    case Leftover::Kind::cache: remove(leftover.part.value()); return;
  }
}

}  // namespace autopack::inventory
