#include "build/wheels/complete_set.hpp"

#include "base/digest.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "build/wheels/told_wheels.hpp"
#include "lock/completeness.hpp"
#include "wheel/texts.hpp"
#include "wheel/wheel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace autopack::build {

namespace {

constexpr std::size_t connections{4};

/// Finds the requirements of wheels.
class Needs {
public:
  Needs(Services& services,
        PackageIndex& index,
        const std::map<std::size_t, index::Candidate>& offered,
        ToldWheels told)
      : services_{services}, index_{index}, offered_{offered}, told_{std::move(told)} {}

  /// Returns those of `file` at `place`; nothing if it is not cached and `may_be_unknown`.
  std::optional<std::vector<std::string>> of(std::size_t place,
                                             const ChosenFile& file,
                                             bool may_be_unknown) const {
    if (auto known = remembered_needs(services_, file.digest)) {
      return known;
    }
    auto wheel = index_.wheels().find(file.digest.hex());
    if (!wheel && may_be_unknown) {
      return std::nullopt;
    }
    if (const auto noted = told_.find(file.digest);
        !wheel && noted != told_.end() && noted->second.needs) {
      return noted->second.needs;
    }
    const auto told = wheel ? std::nullopt : told_metadata(place);
    if (!wheel && !told) {
      wheel = index_.wheels().get(file.download());
    }
    auto lines = told ? wheel::read_metadata(*told).requires_dist
                      : wheel::Wheel::open(wheel->path, file.name).metadata().requires_dist;
    remember_needs(services_, file.digest, lines);
    return lines;
  }

private:
  std::optional<std::string> told_metadata(std::size_t place) const {
    const auto found = offered_.find(place);
    return found != offered_.end() ? index_.client().metadata(found->second) : std::nullopt;
  }

  Services& services_;
  PackageIndex& index_;
  const std::map<std::size_t, index::Candidate>& offered_;
  ToldWheels told_;
};

}  // namespace

std::optional<std::string> missing_from(Services& services,
                                        PackageIndex& index,
                                        const ChosenSet& chosen) {
  const auto& set = chosen.set;
  const auto& files = chosen.files;
  Sha256 hash;
  hash.update(chosen.target);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& package = set.packages[i];
    hash.update(
        fmt::format("{} {} {}\n", package.name, files[i].digest.hex(), join(package.extras, ",")));
  }
  const std::string name = "complete " + hash.finish().hex();
  if (services.wheel_records.get(name)) {
    return std::nullopt;
  }
  std::map<std::string, lock::Needs> needs;
  bool all_seen = true;
  const Needs asked{services, index, chosen.offered,
                    set.is_complete ? ToldWheels{} : told_wheels(services)};
  std::vector<std::optional<std::vector<std::string>>> found(files.size());
  in_parallel(found.size(), connections,
              [&](std::size_t i) { found[i] = asked.of(i, files[i], set.is_complete); });
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (auto& lines = found[i]) {
      needs[set.packages[i].name] = {.requirements = std::move(*lines)};
    } else {
      all_seen = false;
    }
  }
  const auto missing = lock::missing_requirements(set, needs, {}, chosen.interpreter);
  if (missing.empty()) {
    if (all_seen) {
      services.wheel_records.put(name, "");
    }
    return std::nullopt;
  }
  return fmt::format("{} is not a complete set of pins: {}", set.origin, join(missing, "; "));
}

}  // namespace autopack::build
