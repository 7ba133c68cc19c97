#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "engine/images.hpp"
#include "engine/json_lines.hpp"
#include "image/archive_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace autopack::engine {

namespace {

using nlohmann::json;

/// Calls `look` with the path of the files of a container of `image` that is never started.
void look_into(Api& api,
               const std::string& image,
               const std::string& platform,
               const std::function<void(const std::string& archive)>& look) {
  const std::string wanted = platform.empty() ? "" : "platform=" + percent_encode(platform);
  // The command only has to be there, for images that have none.
  const json body{{"Image", image}, {"Cmd", {"true"}}, {"NetworkDisabled", true}};
  const std::string name =
      api.create_container(fmt::format("look into image `{}`", image), write_json(body), wanted);
  const auto removal = api.removal_of(name);
  try {
    look("/containers/" + name + "/archive?path=");
  } catch (...) {
    api.send_cleanup(removal);
    throw;
  }
  api.send_ok(removal);
}

void check_look(const http::Response& response, const std::string& image, const std::string& path) {
  if (!response.ok() && response.status != 404) {
    throw Error(ErrorKind::remote, fmt::format("could not look into image `{}`", image))
        .cause(fmt::format("`{}`: status {}", path, response.status));
  }
}

}  // namespace

std::map<std::string, std::string> probe_image(Api& api,
                                               const std::string& image,
                                               const std::string& platform,
                                               const std::vector<std::string>& paths) {
  std::map<std::string, std::string> found;
  look_into(api, image, platform, [&](const std::string& archive) {
    for (const auto& path : paths) {
      const auto response =
          api.send(api.short_request(fmt::format("look for `{}` in `{}`", path, image), "HEAD",
                                     archive + percent_encode(path)));
      check_look(response, image, path);
      if (response.ok()) {
        const auto stat =
            base64_decode(response.header("X-Docker-Container-Path-Stat").value_or(""));
        const json document = parse_json(stat.value_or(""));
        const std::string target = text_at(document, "linkTarget");
        // Podman gives every file a target: itself.
        found[path] = target == path ? "" : target;
      }
    }
  });
  return found;
}

std::optional<std::string> read_image_file(Api& api,
                                           const std::string& image,
                                           const std::string& path,
                                           std::size_t limit) {
  http::Response response;
  look_into(api, image, "", [&](const std::string& archive) {
    response = api.send(api.short_request(fmt::format("read `{}` in `{}`", path, image), "GET",
                                          archive + percent_encode(path)));
    check_look(response, image, path);
  });
  if (!response.ok()) {
    return std::nullopt;
  }
  std::size_t at = 0;
  const image::Reader reader = [&](char* buffer, std::size_t size) {
    const std::size_t count = response.body.copy(buffer, size, std::min(at, response.body.size()));
    at += count;
    return count;
  };
  return image::read_member(reader, fmt::format("`{}` of image `{}`", path, image),
                            path.substr(path.rfind('/') + 1), limit);
}

}  // namespace autopack::engine
