#include "engine/build.hpp"

#include "base/byte_pipe.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "engine/build_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

namespace autopack::engine {

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

}  // namespace

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
    throw context.error_of(*progress.failure());
  }
  if (!progress.image_id()) {
    throw Error(ErrorKind::remote, "the engine ended the build without an image");
  }
  return {.image_id = *progress.image_id(),
          .context_bytes = pipe.count(),
          .steps = progress.steps(),
          .cached_steps = progress.cached_steps()};
}

}  // namespace autopack::engine
