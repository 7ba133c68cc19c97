#pragma once

#include "engine/api.hpp"

#include <string_view>

namespace autopack::engine {

/// The remedy where an image has more layers than an engine takes.
inline constexpr std::string_view fewer_layers{
    "put the executor image into one layer: a Dockerfile with `FROM scratch`, `COPY --from=IMAGE / "
    "/`, and its ENV lines again"};

// Implementations of Docker's methods with these names on `api`.

std::optional<LocalImage> inspect_image(Api& api, const std::string& reference);
std::optional<std::vector<std::string>> image_repositories(Api& api, const std::string& reference);
Digest resolve_digest(Api& api, const image::Reference& reference);
void pull_image(Api& api, const image::Reference& reference, const std::string& platform);
void tag_image(Api& api, const std::string& image, const image::Reference& name);
PushResult push_image(Api& api, const image::Reference& name);
void save_image(Api& api,
                const std::string& name,
                const std::function<void(std::string_view)>& sink);
void load_images(Api& api, const std::function<std::size_t(char*, std::size_t)>& read);
void remove_image(Api& api, const std::string& reference);
std::vector<std::int64_t> image_run_times(Api& api, const std::string& image);

/// Implements Docker::read_file on `api`.
std::optional<std::string> read_image_file(Api& api,
                                           const std::string& image,
                                           const std::string& path,
                                           std::size_t limit);

/// Implements Docker::with_files on `api`.
void with_image_files(Api& api,
                      const std::string& image,
                      const std::string& platform,
                      const std::function<void(ImageFiles& files)>& use);

}  // namespace autopack::engine
