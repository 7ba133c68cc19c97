#include "engine/image_list.hpp"

#include "base/json.hpp"
#include "base/url.hpp"
#include "engine/json_lines.hpp"

#include <algorithm>
#include <ctime>

namespace autopack::engine {

namespace {

using nlohmann::json;

/// Each image costs one request.
constexpr std::size_t most_asked{500};

/// Returns the real names: an image without one is listed as `<none>:<none>`.
std::vector<std::string> names_of(const json& image) {
  std::vector<std::string> names;
  const auto tags = image.find("RepoTags");
  if (tags == image.end() || !tags->is_array()) {
    return names;
  }
  for (const auto& tag : *tags) {
    if (tag.is_string() && tag.get<std::string>().find("<none>") == std::string::npos) {
      names.push_back(tag.get<std::string>());
    }
  }
  return names;
}

/// An image's creation time is useless: autopack sets the same for every image. Returns 0 if the
/// engine does not report the tag time (Podman).
std::int64_t last_tagged(Api& api, const std::string& id) {
  const auto response =
      api.send(api.short_request("look at an image", "GET", "/images/" + id + "/json"));
  const auto document = parse_json(response.ok() ? response.body : "");
  const auto metadata = document.is_object() ? document.find("Metadata") : document.end();
  std::tm date{};
  const bool is_known =
      document.is_object() && metadata != document.end() &&
      ::strptime(text_at(*metadata, "LastTagTime").c_str(), "%Y-%m-%dT%H:%M:%S", &date) != nullptr;
  const auto seconds = is_known ? static_cast<std::int64_t>(::timegm(&date)) : 0;
  return std::max<std::int64_t>(seconds, 0);
}

}  // namespace

std::vector<ListedImage> list_images(Api& api, const std::string& label) {
  const json filters{{"label", json::array({label})}};
  const auto response = api.send_ok(api.short_request(
      "list images", "GET", "/images/json?filters=" + percent_encode(write_json(filters))));
  std::vector<ListedImage> images;
  for (const auto& one : parse_json(response.body)) {
    if (!one.is_object() || text_at(one, "Id").empty()) {
      continue;
    }
    ListedImage image{
        .id = text_at(one, "Id"), .names = names_of(one), .size = number_at(one, "Size")};
    const auto labels = one.find("Labels");
    if (labels != one.end() && labels->is_object()) {
      for (const auto& [key, value] : labels->items()) {
        image.labels[key] = value.is_string() ? value.get<std::string>() : "";
      }
    }
    image.tagged = images.size() < most_asked ? last_tagged(api, image.id) : 0;
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace autopack::engine
