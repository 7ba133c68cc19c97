#include "base/byte_pipe.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "engine/container_owner.hpp"
#include "engine/image_file.hpp"
#include "engine/images.hpp"
#include "engine/json_lines.hpp"
#include "image/archive_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace autopack::engine {

namespace {

using nlohmann::json;

constexpr std::chrono::seconds stall_timeout{120};

/// Calls `look` with the path of the files of a container of `image` that is never started.
void look_into(Api& api,
               const std::string& image,
               const std::string& platform,
               const std::function<void(const std::string& archive)>& look) {
  const std::string name = api.create_container([&](const std::string& new_name) {
    auto request = api.short_request(
        fmt::format("look into image `{}`", image), "POST",
        fmt::format("/containers/create?name={}{}", new_name,
                    platform.empty() ? "" : "&platform=" + percent_encode(platform)));
    request.headers.push_back({"Content-Type", "application/json"});
    // Images without a command need one here, but it never runs.
    request.body = write_json(json{{"Image", image},
                                   {"Cmd", {"true"}},
                                   {"NetworkDisabled", true},
                                   {"Labels", {{owner_label.data(), this_owner()}}}});
    return request;
  });
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

/// The files of `image`, through a container with the archive URL `archive`.
class ContainerFiles final : public ImageFiles {
public:
  ContainerFiles(Api& api, std::string image, std::string platform, std::string archive)
      : api_{api},
        image_{std::move(image)},
        platform_{std::move(platform)},
        archive_{std::move(archive)} {}

  std::map<std::string, std::optional<std::string>> probe(
      const std::vector<std::string>& paths) override {
    std::map<std::string, std::optional<std::string>> found;
    for (const auto& path : paths) {
      const auto response =
          api_.send(api_.short_request(fmt::format("look for `{}` in `{}`", path, image_), "HEAD",
                                       archive_ + percent_encode(path)));
      if (response.status == 500 && leads_through_file(path)) {
        continue;
      }
      check_look(response, image_, path);
      if (response.ok()) {
        const auto stat =
            base64_decode(response.header("X-Docker-Container-Path-Stat").value_or(""));
        const json document = parse_json(stat.value_or(""));
        const std::string target = text_at(document, "linkTarget");
        // Podman reports a target for every file: the file itself.
        found[path] = target == path ? std::nullopt : non_empty(target);
      }
    }
    return found;
  }

  /// Uses a separate container, because the engine handles one request at a time for each.
  image::Reader archive(const std::string& path) override {
    return pulled([this, path](const Take& take) {
      look_into(api_, image_, platform_, [&](const std::string& archive) {
        auto request = api_.request(fmt::format("read `{}` in `{}`", path, image_), "GET",
                                    archive + percent_encode(path));
        // A directory of libraries may have gigabytes, so only a stalled engine times out.
        request.timeout = std::chrono::milliseconds{0};
        request.stall_timeout = stall_timeout;
        request.on_data = take;
        api_.send_ok(request);
      });
    });
  }

private:
  /// The engine reports a file among the directories of a path as an internal error. Only GET has
  /// the text: a response to HEAD has none.
  bool leads_through_file(const std::string& path) {
    const auto response =
        api_.send(api_.short_request(fmt::format("look for `{}` in `{}`", path, image_), "GET",
                                     archive_ + percent_encode(path)));
    return response.status == 500 &&
           refusal_of(response).find("not a directory") != std::string::npos;
  }

  Api& api_;
  std::string image_;
  std::string platform_;
  std::string archive_;
};

}  // namespace

void with_image_files(Api& api,
                      const std::string& image,
                      const std::string& platform,
                      const std::function<void(ImageFiles& files)>& use) {
  look_into(api, image, platform, [&](const std::string& archive) {
    ContainerFiles files{api, image, platform, archive};
    use(files);
  });
}

std::optional<std::string> read_container_file(Api& api,
                                               const std::string& archive,
                                               const std::string& owner,
                                               const std::string& path,
                                               std::size_t limit) {
  const auto response = api.send(api.short_request(fmt::format("read `{}` in `{}`", path, owner),
                                                   "GET", archive + percent_encode(path)));
  check_look(response, owner, path);
  if (!response.ok()) {
    return std::nullopt;
  }
  std::size_t at = 0;
  const image::Reader reader = [&](char* buffer, std::size_t size) {
    const std::size_t count = response.body.copy(buffer, size, std::min(at, response.body.size()));
    at += count;
    return count;
  };
  return image::read_member(reader, fmt::format("`{}` of image `{}`", path, owner),
                            path.substr(path.rfind('/') + 1), limit);
}

std::optional<std::string> read_image_file(Api& api,
                                           const std::string& image,
                                           const std::string& path,
                                           std::size_t limit) {
  std::optional<std::string> text;
  look_into(api, image, "", [&](const std::string& archive) {
    text = read_container_file(api, archive, image, path, limit);
  });
  return text;
}

}  // namespace autopack::engine
