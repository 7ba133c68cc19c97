#include "engine/images.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "engine/json_lines.hpp"
#include "engine/transfer.hpp"
#include "image/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::engine {

namespace {

using nlohmann::json;

json parse_answer(const http::Response& response) {
  json document = parse_json(response.body);
  if (document.is_discarded()) {
    throw Error(ErrorKind::remote, "the engine's response is not JSON");
  }
  return document;
}

/// Returns the member `key`; null if `object` is not an object or has none.
json member_at(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object.at(key) : json{};
}

/// Returns the items of the list `key`; nothing if there is no such list.
json items_at(const json& object, const char* key) {
  auto items = member_at(object, key);
  return items.is_array() ? items : json::array();
}

std::vector<std::string> texts_at(const json& object, const char* key) {
  std::vector<std::string> all;
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found != object.end() && found->is_array()) {
    for (const auto& item : *found) {
      if (item.is_string()) {
        all.push_back(item.get<std::string>());
      }
    }
  } else if (found != object.end() && found->is_string()) {
    all.push_back(found->get<std::string>());
  }
  return all;
}

LocalImage image_of(const json& document) {
  LocalImage image;
  image.id = text_at(document, "Id");
  image.repository_digests = texts_at(document, "RepoDigests");
  // With a graph driver, one is the configuration's digest and the other a manifest's.
  image.id_is_manifest = std::ranges::any_of(
      image.repository_digests,
      [&](const std::string& name) { return name.substr(name.find('@') + 1) == image.id; });
  image.platform = text_at(document, "Os") + "/" + text_at(document, "Architecture");
  if (const std::string variant = text_at(document, "Variant"); !variant.empty()) {
    image.platform += "/" + variant;
  }
  if (const auto tree = document.find("RootFS"); tree != document.end()) {
    image.layers = texts_at(*tree, "Layers");
  }
  const auto config = document.find("Config");
  if (config == document.end() || !config->is_object()) {
    return image;
  }
  image.user = text_at(*config, "User");
  image.entrypoint = texts_at(*config, "Entrypoint");
  image.environment = texts_at(*config, "Env");
  if (const auto labels = config->find("Labels"); labels != config->end() && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      image.labels[key] = value.is_string() ? value.get<std::string>() : write_json(value);
    }
  }
  return image;
}

std::optional<std::string> login_origin(const Api& api, const std::string& host) {
  const auto login = api.login(host);
  return login ? std::optional{login->origin} : std::nullopt;
}

std::string tls_query(const image::Reference& reference) {
  return reference.is_loopback() ? "&tlsVerify=false" : "";
}

/// Returns tag or digest of the name, separate from the repository, as pull and tag need it.
std::string tag_of(const image::Reference& reference) {
  return reference.digest ? reference.digest->str() : reference.tag.value_or("latest");
}

std::string full_name(const image::Reference& reference) {
  return reference.digest ? reference.with_digest(*reference.digest) : reference.tagged();
}

/// Sends a request whose response is a stream of transfer messages.
Transfer transfer(Api& api,
                  http::Request request,
                  const std::string& verb,
                  const image::Reference& reference) {
  Transfer transfer{api.reporter()};
  request.headers.push_back(api.registry_auth(reference.repository()));
  request.on_data = [&](std::string_view bytes) { transfer.feed(bytes); };
  const http::Response response = api.send(request);
  if (!response.ok()) {
    throw transfer_error(verb, reference, refusal_of(response),
                         login_origin(api, reference.repository()));
  }
  transfer.finish();
  if (transfer.complaint()) {
    throw transfer_error(verb, reference, *transfer.complaint(),
                         login_origin(api, reference.repository()));
  }
  return transfer;
}

/// Podman cannot ask a registry for a digest: pulls the image, then inspects it.
Digest resolve_by_pull(Api& api, const image::Reference& reference) {
  pull_image(api, reference, "");
  const auto document = parse_answer(api.send_ok(
      api.podman_request("look at an image", "GET", "/images/" + full_name(reference) + "/json")));
  const auto own = Digest::parse(text_at(document, "Digest"));
  auto digest = own;
  for (const auto& name : texts_at(document, "RepoDigests")) {
    const auto at = name.find('@');
    const auto known = at == std::string::npos ? std::nullopt : Digest::parse(name.substr(at + 1));
    // An image that was also built here has its own digest, which no registry knows.
    if (known && known != own && name.substr(0, at) == reference.host + "/" + reference.path) {
      digest = known;
    }
  }
  if (!digest) {
    throw Error(ErrorKind::remote,
                fmt::format("the engine does not know the digest of `{}`", reference.text));
  }
  return *digest;
}

}  // namespace

std::optional<LocalImage> inspect_image(Api& api, const std::string& reference) {
  const auto response =
      api.send(api.short_request("look at an image", "GET", "/images/" + reference + "/json"));
  if (response.status == 404) {
    return std::nullopt;
  }
  if (!response.ok()) {
    throw Error(ErrorKind::remote, fmt::format("could not look at image `{}`", reference))
        .cause(refusal_of(response));
  }
  return image_of(parse_answer(response));
}

std::optional<std::vector<std::string>> image_repositories(Api& api, const std::string& reference) {
  if (!api.info().reports_origin) {
    return std::nullopt;
  }
  const auto response = api.send(api.origin_request(reference));
  if (!response.ok()) {
    return std::nullopt;
  }
  const json document = parse_answer(response);
  std::vector<std::string> repositories;
  for (const auto& one : items_at(member_at(document, "Identity"), "Pull")) {
    repositories.push_back(text_at(one, "Repository"));
  }
  return repositories;
}

std::vector<std::int64_t> image_run_times(Api& api, const std::string& image) {
  const json steps = parse_answer(
      api.send_ok(api.request("read an image's history", "GET", "/images/" + image + "/history")));
  std::vector<std::int64_t> times;
  for (const json& step : steps) {
    const auto created = step.is_object() ? step.find("Created") : step.end();
    if (step.is_object() && created != step.end() && created->is_number_integer() &&
        image::dates_an_installation(text_at(step, "CreatedBy"))) {
      times.push_back(created->get<std::int64_t>());
    }
  }
  std::ranges::reverse(times);
  return times;
}

Digest resolve_digest(Api& api, const image::Reference& reference) {
  if (reference.digest) {
    return *reference.digest;
  }
  if (api.info().podman) {
    return resolve_by_pull(api, reference);
  }
  auto request = api.request(fmt::format("ask `{}` for its digest", reference.text), "GET",
                             "/distribution/" + reference.tagged() + "/json");
  request.headers.push_back(api.registry_auth(reference.repository()));
  const auto response = api.send(request);
  if (!response.ok()) {
    throw transfer_error("find", reference, refusal_of(response),
                         login_origin(api, reference.repository()));
  }
  const json document = parse_answer(response);
  const auto descriptor = document.find("Descriptor");
  const auto digest =
      descriptor == document.end() ? std::nullopt : Digest::parse(text_at(*descriptor, "digest"));
  if (!digest) {
    throw Error(ErrorKind::remote,
                fmt::format("the registry gives no digest for `{}`", reference.text));
  }
  return *digest;
}

void pull_image(Api& api, const image::Reference& reference, const std::string& platform) {
  const std::string wanted = platform.empty() ? "" : "&platform=" + percent_encode(platform);
  // Podman's Docker-compatible pull does not support registries without TLS.
  if (api.info().podman) {
    const auto parts = split(platform, '/');
    const std::string narrowed =
        parts.size() < 2 ? "" : fmt::format("&OS={}&Arch={}", parts[0], parts[1]);
    transfer(api,
             api.podman_request(
                 "pull", "POST",
                 fmt::format("/images/pull?reference={}{}{}", percent_encode(full_name(reference)),
                             tls_query(reference), narrowed)),
             "pull", reference);
    return;
  }
  transfer(api,
           api.request("pull", "POST",
                       fmt::format("/images/create?fromImage={}&tag={}{}",
                                   percent_encode(reference.repository()),
                                   percent_encode(tag_of(reference)), wanted)),
           "pull", reference);
}

void tag_image(Api& api, const std::string& image, const image::Reference& name) {
  api.send_ok(api.short_request(
      fmt::format("name image `{}` `{}`", image, name.tagged()), "POST",
      fmt::format("/images/{}/tag?repo={}&tag={}", image, percent_encode(name.repository()),
                  percent_encode(name.tag.value_or("latest")))));
}

PushResult push_image(Api& api, const image::Reference& name) {
  const std::string tag = name.tag.value_or("latest");
  const std::string query =
      "?tag=" + percent_encode(tag) + (api.info().podman ? tls_query(name) : "");
  const Transfer done = transfer(api,
                                 api.request(fmt::format("push `{}`", name.text), "POST",
                                             "/images/" + name.repository() + "/push" + query),
                                 "push", name);
  if (!done.digest()) {
    throw Error(ErrorKind::remote,
                fmt::format("the engine pushed `{}`, but reported no digest", name.text));
  }
  PushResult result{.digest = *done.digest(), .layers = done.layers()};
  for (const auto& layer : result.layers) {
    result.bytes_uploaded += layer.uploaded ? layer.size : 0;
  }
  return result;
}

void save_image(Api& api,
                const std::string& name,
                const std::function<void(std::string_view)>& sink) {
  auto request = api.request(fmt::format("take image `{}` out of the engine", name), "GET",
                             "/images/" + name + "/get");
  request.on_data = sink;
  request.timeout = std::chrono::milliseconds{0};
  api.send_ok(request);
}

void load_images(Api& api, const std::function<std::size_t(char*, std::size_t)>& read) {
  std::optional<std::string> complaint;
  JsonLines lines{[&](const json& message) {
    if (!complaint) {
      complaint = complaint_of(message);
    }
    // Containerd's store keeps an image that it cannot unpack, and only reports it in the stream.
    if (const auto said = text_at(message, "stream");
        !complaint && said.starts_with("Error unpacking image")) {
      complaint = trim(said);
    }
  }};
  auto request = api.request("load an image into the engine", "POST", "/images/load?quiet=1");
  request.headers.push_back({"Content-Type", "application/x-tar"});
  request.read_body = read;
  request.timeout = std::chrono::milliseconds{0};
  request.on_data = [&](std::string_view bytes) { lines.feed(bytes); };
  api.send_ok(request);
  lines.finish();
  if (complaint && complaint->find("max depth exceeded") != std::string::npos) {
    throw Error(ErrorKind::project, "the image has more than 125 layers, the limit of the engine")
        .cause(*complaint)
        .hint(std::string{fewer_layers});
  }
  if (complaint) {
    throw Error(ErrorKind::remote, "the engine does not accept the image").cause(*complaint);
  }
}

void remove_image(Api& api, const std::string& reference) {
  const auto response = api.send(api.request("remove an image", "DELETE", "/images/" + reference));
  if (response.ok() || response.status == 404) {
    return;
  }
  // Podman cannot remove an image by a name with a digest.
  if (reference.find('@') != std::string::npos && api.info().podman) {
    return;
  }
  throw Error(ErrorKind::remote, fmt::format("could not remove image `{}`", reference))
      .cause(refusal_of(response));
}

}  // namespace autopack::engine
