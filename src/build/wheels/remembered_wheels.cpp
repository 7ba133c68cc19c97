#include "build/wheels/remembered_wheels.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <utility>

namespace autopack::build {

namespace {

using nlohmann::json;

std::string record_of(const Digest& digest) {
  return "needs " + digest.hex();
}

/// Returns a list of texts; nothing if `lines` is anything else.
std::optional<std::vector<std::string>> lines_of(const json& lines) {
  const bool good = lines.is_array() &&
                    std::ranges::all_of(lines, [](const auto& one) { return one.is_string(); });
  return good ? std::optional{lines.get<std::vector<std::string>>()} : std::nullopt;
}

}  // namespace

std::string to_json(const RememberedWheels& wheels) {
  json all = json::object();
  for (const auto& [digest, wheel] : wheels) {
    json one{{"size", wheel.size}};
    if (wheel.needs) {
      one["needs"] = *wheel.needs;
    }
    all[digest.str()] = std::move(one);
  }
  return print_json(all);
}

RememberedWheels remembered_wheels_from_json(std::string_view text) {
  RememberedWheels wheels;
  const json read = parse_json(text);
  if (!read.is_object()) {
    return wheels;
  }
  for (const auto& [name, one] : read.items()) {
    const auto digest = Digest::parse(name);
    if (digest && one.is_object() && one.contains("size") && one["size"].is_number_unsigned()) {
      wheels[*digest] = {.size = one["size"].get<std::uint64_t>(),
                         .needs = one.contains("needs") ? lines_of(one["needs"]) : std::nullopt};
    }
  }
  return wheels;
}

RememberedWheels remembered_wheels(Services& services) {
  if (!services.repository_facts) {
    return {};
  }
  const auto texts = services.repository_facts->texts({remembered_wheels_key});
  return texts.empty() ? RememberedWheels{} : remembered_wheels_from_json(texts.begin()->second);
}

RememberedWheels known_wheels(const Services& services,
                              const std::vector<wheel::ChosenWheel>& wheels) {
  RememberedWheels known;
  for (const auto& wheel : wheels) {
    known[wheel.digest] = {.size = wheel.size, .needs = cached_needs(services, wheel.digest)};
  }
  return known;
}

std::optional<std::vector<std::string>> cached_needs(const Services& services,
                                                     const Digest& digest) {
  const auto text = services.wheel_records.get(record_of(digest));
  return text ? lines_of(parse_json(*text)) : std::nullopt;
}

void cache_needs(const Services& services,
                 const Digest& digest,
                 const std::vector<std::string>& needs) {
  services.wheel_records.put(record_of(digest), write_json(json(needs)));
}

}  // namespace autopack::build
