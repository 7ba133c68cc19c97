#include "engine/docker.hpp"

#include "base/byte_pipe.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "engine/api.hpp"
#include "engine/build_progress.hpp"
#include "engine/container.hpp"
#include "engine/container_owner.hpp"
#include "engine/containers.hpp"
#include "engine/held_image.hpp"
#include "engine/images.hpp"
#include "engine/json_lines.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>
#include <vector>

// The client of the Docker Engine API, for Docker and for engines that answer like it. It knows
// images, containers and builds, and nothing of plans or projects: builders give it a tar and read
// steps back.

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

/// Implements Docker::list_images on `api`.
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

namespace {

/// Returns a unique name of this build for `POST /build/cancel`.
std::string new_build_id() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return "autopack-" + sha256(fmt::format("{} {}", ::getpid(), now)).hex().substr(0, 16);
}

/// Arguments that engines know without `ARG`, and keep in neither history nor cache keys.
nlohmann::json build_arguments(const Proxies& proxies) {
  auto arguments = nlohmann::json::object();
  for (const auto& [name, value] : proxies) {
    arguments[name] = value.reveal();
  }
  return arguments;
}

std::string query_of(const BuildRequest& request,
                     const std::string& build_id,
                     const Proxies& proxies) {
  std::string query =
      fmt::format("?version={}&dockerfile={}&rm=1&forcerm=1", request.buildkit ? 2 : 1,
                  percent_encode(request.context->dockerfile_path()));
  const auto add = [&](std::string_view name, const std::optional<std::string>& value) {
    if (value) {
      query += fmt::format("&{}={}", name, percent_encode(*value));
    }
  };
  for (const auto& tag : request.tags) {
    add("t", tag);
  }
  if (!request.labels.empty()) {
    add("labels", write_json(nlohmann::json(request.labels)));
  }
  if (!proxies.empty()) {
    add("buildargs", write_json(build_arguments(proxies)));
  }
  add("target", request.target);
  add("networkmode", request.network_mode);
  add("platform", non_empty(request.platform));
  add("nocache", request.no_cache ? std::optional{"1"} : std::nullopt);
  add("buildid", request.buildkit ? std::optional{build_id} : std::nullopt);
  return query;
}

http::Request post_build(Api& api, const BuildRequest& request, const std::string& build_id) {
  auto post =
      api.request("build the image", "POST", "/build" + query_of(request, build_id, api.proxies()));
  post.headers.push_back({"Content-Type", "application/x-tar"});
  return post;
}

/// Implements Docker::build on `api`.
BuildResult build_image(Api& api, const BuildRequest& request) {
  const BuildContext& context = *request.context;
  const std::string build_id = new_build_id();
  BuildProgress progress{api.reporter(),
                         [&](std::string_view step) { return context.step_name(step); }};
  BytePipe pipe{[&](const auto& out) { context.write(out); }};
  http::Request post = post_build(api, request, build_id);
  post.read_body = [&](char* buffer, std::size_t size) { return pipe.read(buffer, size); };
  post.on_data = [&](std::string_view bytes) { progress.feed(bytes); };
  try {
    const http::Response response = api.send(post);
    if (!response.ok()) {
      throw context.error_of({.message = refusal_of(response)});
    }
    progress.finish();
  } catch (const Interrupted&) {
    // Closing the connection ends the build too; this ensures that it has ended.
    if (request.buildkit) {
      api.send_cleanup(api.request("cancel the build", "POST", "/build/cancel?id=" + build_id));
    }
    throw;
  }
  if (progress.failure()) {
    auto error = context.error_of(*progress.failure());
    if (api.info().store_lacks_upload &&
        progress.failure()->message.find("BuildKit") != std::string::npos) {
      error.hint(
          "Docker 28 or newer, or this one without `containerd-snapshotter`, builds with BuildKit");
    }
    throw error;
  }
  if (!progress.image_id()) {
    throw Error(ErrorKind::remote, "the engine ended the build without an image");
  }
  return {.image_id = *progress.image_id(),
          .context_bytes = pipe.count(),
          .steps = progress.steps(),
          .cached_steps = progress.cached_steps()};
}

class DockerEngine final : public Docker {
public:
  explicit DockerEngine(const DockerOptions& options)
      : options_{options}, api_{options}, cancellation_{options.cancellation} {}

  const EngineInfo& info() override { return api_.info(); }

  bool is_local() const override { return api_.is_local(); }

  std::optional<LocalImage> inspect(const std::string& reference) override {
    return inspect_image(api_, reference);
  }

  std::optional<std::vector<std::string>> repositories_with(const std::string& reference) override {
    return image_repositories(api_, reference);
  }

  Digest resolve(const image::Reference& reference) override {
    return resolve_digest(api_, reference);
  }

  void pull(const image::Reference& reference, const std::string& platform) override {
    pull_image(api_, reference, platform);
  }

  BuildResult build(const BuildRequest& request) override { return build_image(api_, request); }

  void tag(const std::string& image, const image::Reference& name) override {
    tag_image(api_, image, name);
  }

  PushResult push(const image::Reference& name) override { return push_image(api_, name); }

  void remove_image(const std::string& reference) override {
    engine::remove_image(api_, reference);
  }

  std::vector<ListedImage> list_images(const std::string& label) override {
    return engine::list_images(api_, label);
  }

  std::vector<std::string> left_containers() override { return engine::left_containers(api_); }

  void remove_container(const std::string& name) override { api_.send(api_.removal_of(name)); }

  void save(const std::string& name, const std::function<void(std::string_view)>& sink) override {
    save_image(api_, name, sink);
  }

  void load(const std::function<std::size_t(char*, std::size_t)>& read) override {
    load_images(api_, read);
  }

  std::optional<image::Source> held(const std::string& name) override {
    return held_image(api_, name);
  }

  std::vector<std::int64_t> run_times(const std::string& image) override {
    return image_run_times(api_, image);
  }

  std::optional<std::string> read_file(const std::string& image,
                                       const std::string& path,
                                       std::size_t limit) override {
    return read_image_file(api_, image, path, limit);
  }

  void with_files(const std::string& image,
                  const std::string& platform,
                  const std::function<void(ImageFiles& files)>& use) override {
    with_image_files(api_, image, platform, use);
  }

  Containers& containers() override {
    if (!containers_) {
      containers_ = make_containers(options_);
    }
    return *containers_;
  }

  int run(const ContainerSpec& spec, const ContainerStreams& streams) override {
    return run_container(api_, spec, streams, cancellation_);
  }

private:
  DockerOptions options_;
  Api api_;
  const Cancellation* cancellation_;
  std::unique_ptr<Containers> containers_{};
};

}  // namespace

std::unique_ptr<Docker> make_docker(const DockerOptions& options) {
  return std::make_unique<DockerEngine>(options);
}

}  // namespace autopack::engine
