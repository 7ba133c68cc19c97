#include "build/wheels/published_wheels.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "build/wheels/package_index.hpp"
#include "index/access.hpp"
#include "index/candidate.hpp"
#include "index/index_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace autopack::build {

namespace {

/// Wheels of one place: an index, or all of the settings if the text is empty.
using WheelsByIndex = std::map<std::string, std::vector<InstalledWheel>>;

/// Adds the wheels of which no index is asked to `found`.
WheelsByIndex by_index(const std::vector<InstalledWheel>& wheels,
                       const std::vector<std::string>& known,
                       PublishedWheels& found) {
  WheelsByIndex all;
  for (const auto& wheel : wheels) {
    if (const auto reason = reason_not_to_ask(wheel, known)) {
      found.unasked.push_back(fmt::format("`{}` ({})", printable(wheel.file), *reason));
    } else {
      all[wheel.index].push_back(wheel);
    }
  }
  return all;
}

std::string without_end(std::string url) {
  url.resize(url.find_last_not_of('/') + 1);
  return url;
}

/// Returns the indexes that the user's settings and the project name. Those of `wheels` are the
/// project's own unless a document about an image has chosen the versions.
std::vector<std::string> known_indexes(const packaging::Packaging& work,
                                       const index::IndexSettings& settings,
                                       const std::vector<InstalledWheel>& wheels) {
  const auto& dependencies = work.plan().dependencies;
  std::vector<std::string> known;
  for (const auto& place : settings.indexes) {
    known.push_back(place.url);
  }
  for (const auto& place : dependencies.uv.indexes) {
    known.push_back(index::Location::parse(place.url).url);
  }
  if (dependencies.lock || !work.request().resolution) {
    for (const auto& wheel : wheels) {
      known.push_back(wheel.index);
    }
  }
  return known;
}

index::IndexSettings only(index::IndexSettings settings, const std::string& place) {
  if (!place.empty()) {
    settings.indexes = {index::Location::parse(place)};
    settings.find_links.clear();
    settings.no_index = false;
  }
  return settings;
}

std::vector<std::string> names_of(const std::vector<InstalledWheel>& wheels) {
  std::vector<std::string> names;
  for (const auto& wheel : wheels) {
    names.push_back(wheel.name);
  }
  return names;
}

}  // namespace

std::optional<std::string> reason_not_to_ask(const InstalledWheel& wheel,
                                             const std::vector<std::string>& known) {
  if (wheel.is_direct) {
    return "from a URL or a path";
  }
  if (wheel.url.empty()) {
    return "built, or in the project";
  }
  const auto is_it = [&](const std::string& index) {
    return without_end(index) == without_end(wheel.index);
  };
  if (!wheel.index.empty() && std::ranges::none_of(known, is_it)) {
    return fmt::format("from `{}`, which this directory does not name", printable(wheel.index));
  }
  return std::nullopt;
}

void compare_with_offers(const InstalledWheel& wheel,
                         const std::vector<index::Candidate>& offers,
                         PublishedWheels& found) {
  ++found.wheels;
  std::vector<std::string> others;
  for (const auto& offer : offers) {
    if (offer.name != wheel.file) {
      continue;
    }
    for (const auto& hash : offer.hashes) {
      if (hash.algorithm != "sha256") {
        continue;
      }
      if (hash.hex == wheel.digest.hex()) {
        ++found.listed;
        return;
      }
      others.push_back(hash.str());
    }
  }
  if (others.empty()) {
    found.unlisted.push_back(wheel.file);
    return;
  }
  found.differing.push_back(fmt::format("`{}` has {}, and the index lists {}",
                                        printable(wheel.file), wheel.digest.str(),
                                        join(others, ", ")));
}

PublishedWheels ask_for_wheels(Services& services,
                               const packaging::Packaging& work,
                               const std::optional<std::string>& default_index,
                               const std::vector<InstalledWheel>& wheels) {
  PublishedWheels found;
  try {
    const PackageIndex all{services, work, default_index};
    for (const auto& [place, some] :
         by_index(wheels, known_indexes(work, all.settings(), wheels), found)) {
      const index::Access access{{.client = &services.client(),
                                  .settings = only(all.settings(), place),
                                  .google = [&services] { return google_token(services); },
                                  .cancellation = services.cancellation,
                                  .reporter = services.reporter}};
      index::IndexClient client{access, services.environment.cache_directory() / "indexes"};
      const auto offers = client.candidates_of(names_of(some));
      for (const auto& wheel : some) {
        compare_with_offers(wheel, offers.at(wheel.name), found);
      }
    }
  } catch (const Error& error) {
    found.obstacle = error.message();
  }
  return found;
}

}  // namespace autopack::build
