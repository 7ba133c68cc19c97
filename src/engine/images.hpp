#pragma once

#include "engine/api.hpp"

namespace autopack::engine {

// What Docker's methods of these names do, each on `api`.

std::optional<LocalImage> inspect_image(Api& api, const std::string& reference);
Digest resolve_digest(Api& api, const image::Reference& reference);
void pull_image(Api& api, const image::Reference& reference, const std::string& platform);
void tag_image(Api& api, const std::string& image, const image::Reference& name);
PushResult push_image(Api& api, const image::Reference& name);
void remove_image(Api& api, const std::string& reference);
std::map<std::string, std::string> probe_image(Api& api,
                                               const std::string& image,
                                               const std::string& platform,
                                               const std::vector<std::string>& paths);

}  // namespace autopack::engine
