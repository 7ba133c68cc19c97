#include "build/wheels/wheel_lists.hpp"

#include "base/parallel.hpp"
#include "build/wheels/remembered_wheels.hpp"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

namespace autopack::build {

namespace {

using Files = std::vector<wheel::WheelFile>;

std::optional<Files> files_of(const std::optional<std::string>& text) {
  return text ? wheel::parse_wheel_files(*text) : std::nullopt;
}

}  // namespace

std::optional<std::string> remembered_list(const Services& services,
                                           const wheel::ChosenWheel& wheel,
                                           const wheel::Place& place) {
  return services.wheel_records.get(wheel::wheel_files_key(wheel, place));
}

WheelLists::WheelLists(Services& services,
                       const std::vector<wheel::ChosenWheel>& wheels,
                       const wheel::Place& place,
                       const FetchWheels& fetch)
    : services_{services}, wheels_{wheels}, place_{place}, fetch_{fetch} {
  std::vector<std::string> keys;
  std::map<std::string, std::size_t> unknown;
  for (std::size_t i = 0; i < wheels.size(); ++i) {
    auto files = files_of(remembered_list(services, wheels[i], place));
    if (!files) {
      keys.push_back(wheel::wheel_files_key(wheels[i], place));
      unknown[keys.back()] = i;
    }
    all_.push_back({.name = wheels[i].name,
                    .digest = wheels[i].digest,
                    .size = wheels[i].size,
                    .files = std::move(files).value_or(Files{})});
  }
  if (!keys.empty() && services.repository_facts) {
    for (const auto& [key, text] : services.repository_facts->texts(keys)) {
      if (auto files = files_of(text)) {
        const std::size_t i = unknown.at(key);
        all_[i].files = std::move(*files);
        reported_.insert(i);
        unknown.erase(key);
      }
    }
  }
  std::set<std::size_t> places;
  for (const auto& [key, i] : unknown) {
    places.insert(i);
  }
  look_into(places);
}

bool WheelLists::holds_for(const std::set<std::size_t>& places) {
  std::set<std::size_t> doubted;
  std::map<std::size_t, Files> before;
  for (const std::size_t i : reported_) {
    if (places.contains(i)) {
      doubted.insert(i);
      before[i] = all_[i].files;
    }
  }
  look_into(doubted);
  bool same = true;
  for (const auto& [i, files] : before) {
    reported_.erase(i);
    same = same && all_[i].files == files;
  }
  if (!same) {
    look_into(std::exchange(reported_, {}));
  }
  return same;
}

void WheelLists::look_into(const std::set<std::size_t>& places) {
  std::vector<wheel::ChosenWheel> wheels;
  for (const std::size_t i : places) {
    wheels.push_back(wheels_[i]);
  }
  fetch_(wheels);
  const std::vector<std::size_t> indices(places.begin(), places.end());
  in_parallel(indices.size(), std::max(1U, std::thread::hardware_concurrency()),
              [&](std::size_t n) {
                const std::size_t i = indices[n];
                auto contents = wheel::read_wheel(wheels_[i], place_);
                cache_needs(services_, wheels_[i].digest, contents.requirements);
                all_[i] = std::move(contents.files);
                if (const auto text = wheel::to_text(all_[i].files)) {
                  services_.wheel_records.put(wheel::wheel_files_key(wheels_[i], place_), *text);
                }
              });
}

}  // namespace autopack::build
