#include "base/json.hpp"
#include "base/text.hpp"
#include "compare/difference.hpp"

namespace autopack::compare {

namespace {

using nlohmann::json;

json to_json(const FileFacts& facts) {
  return {{"kind", std::string(1, facts.kind)},
          {"size", facts.size},
          {"content", printable(facts.content)}};
}

json to_json(const std::string& text) {
  return printable(text);
}

template <typename Value>
json to_json(const std::vector<Change<Value>>& changes) {
  auto list = json::array();
  for (const auto& change : changes) {
    list.push_back({{"name", printable(change.name)},
                    {"before", change.before ? to_json(*change.before) : json()},
                    {"after", change.after ? to_json(*change.after) : json()}});
  }
  return list;
}

json side(const Contents& contents) {
  return {{"name", printable(contents.name)},
          {"image", contents.is_image},
          {"size", contents.size},
          {"layers", contents.layers.size()},
          {"unreadLayers", contents.unread_layers}};
}

}  // namespace

json to_json(const Difference& difference, const Contents& before, const Contents& after) {
  auto requirements = json::array();
  for (const auto& one : difference.requirements) {
    requirements.push_back(printable(one));
  }
  return {{"before", side(before)},
          {"after", side(after)},
          {"same", difference.empty()},
          {"files", to_json(difference.files)},
          {"packages", to_json(difference.packages)},
          {"configuration", to_json(difference.configuration)},
          {"requirements", std::move(requirements)},
          {"sharedLayers", difference.shared_layers},
          {"sharedSize", difference.shared_size}};
}

}  // namespace autopack::compare
