#include "build/wheels/remembered_sources.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <cstddef>

// uv downloads and unpacks a source distribution each time when it has to ask a build what the
// distribution requires. uv gets these lines the next time.
namespace autopack::build {

namespace {

using nlohmann::json;

constexpr std::size_t most_sources{200};

}  // namespace

std::string to_json(const std::vector<resolve::SourceMetadata>& sources) {
  json all = json::array();
  for (std::size_t i = sources.size() - std::min(sources.size(), most_sources); i < sources.size();
       ++i) {
    const auto& [name, version, requirements] = sources[i];
    all.push_back({{"name", name}, {"version", version}, {"requires", requirements}});
  }
  return write_json(all);
}

std::vector<resolve::SourceMetadata> sources_from_json(std::string_view text) {
  std::vector<resolve::SourceMetadata> sources;
  const auto all = parse_json(text);
  for (const auto& entry : all.is_array() ? all : json::array()) {
    const auto name = entry.is_object() ? text_at(entry, "name") : std::string{};
    const auto version = entry.is_object() ? text_at(entry, "version") : std::string{};
    const auto list = entry.is_object() ? entry.value("requires", json()) : json();
    if (name.empty() || version.empty() || !list.is_array() ||
        !std::ranges::all_of(list, [](const json& one) { return one.is_string(); })) {
      continue;
    }
    sources.push_back(
        {.name = name, .version = version, .requirements = list.get<std::vector<std::string>>()});
  }
  return sources;
}

}  // namespace autopack::build
