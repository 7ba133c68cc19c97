#include "support/memory_registry.hpp"

#include "base/digest.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "image/manifest.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace autopack::testing {

namespace {

constexpr std::string_view api = "/v2/";

http::Response refusal(int status, const char* code) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json; charset=utf-8"}},
          .body = fmt::format(R"({{"errors":[{{"code":"{}","message":"refused"}}]}})", code)};
}

/// Returns the value of `name` in a query; empty if it is absent.
std::string value_of(std::string_view query, std::string_view name) {
  for (const auto& pair : split(query, '&')) {
    if (pair.starts_with(std::string{name} + "=")) {
      return replace_all(pair.substr(name.size() + 1), "%3A", ":");
    }
  }
  return {};
}

std::string body_of(const http::Request& request) {
  if (!request.read_body) {
    return request.body;
  }
  std::string body;
  std::string buffer(65536, '\0');
  while (const std::size_t count = request.read_body(buffer.data(), buffer.size())) {
    body.append(buffer, 0, count);
  }
  return body;
}

void hand_over(const http::Request& request, http::Response& response) {
  if (request.on_head) {
    request.on_head(response);
  }
  if (request.on_data && response.ok()) {
    request.on_data(response.body);
    response.body.clear();
  }
}

}  // namespace

http::Response MemoryRegistry::send(const http::Request& request) {
  const auto url = Url::parse(request.url);
  const auto at = request.url.find(api);
  if (!url || at == std::string::npos) {
    throw std::runtime_error{"no registry answers " + request.url};
  }
  const std::string body = body_of(request);
  http::Response response;
  {
    const std::lock_guard lock{mutex_};
    requests_.push_back(request.method + " " + request.url.substr(at));
    response = answer(request, std::string_view{request.url}.substr(at + api.size()), body);
  }
  hand_over(request, response);
  return response;
}

std::unique_ptr<http::Stream> MemoryRegistry::upgrade(const http::Request& request) {
  throw std::runtime_error{"no registry is asked for " + request.url};
}

http::Response MemoryRegistry::answer(const http::Request& request,
                                      std::string_view path,
                                      const std::string& body) {
  const auto mark = path.find('?');
  const std::string_view query =
      mark == std::string_view::npos ? std::string_view{} : path.substr(mark + 1);
  const std::string plain{path.substr(0, mark)};
  if (plain.empty()) {
    return {.status = 200, .body = "{}"};
  }
  const auto parts = [&](std::string_view kind) {
    const auto found = plain.find(kind);
    return found == std::string::npos
               ? std::pair<std::string, std::string>{}
               : std::pair{plain.substr(0, found), plain.substr(found + kind.size())};
  };
  if (const auto [name, reference] = parts("/manifests/"); !reference.empty()) {
    return manifests(request, name, reference, body);
  }
  if (const auto [name, subject] = parts("/referrers/"); !subject.empty()) {
    return has_referrers_ ? referrers(name, subject) : refusal(404, "UNSUPPORTED");
  }
  if (const auto [name, rest] = parts("/blobs/uploads/"); !name.empty()) {
    return rest.empty() ? begin_upload(name, query) : upload(request, name, rest, query, body);
  }
  if (const auto [name, digest] = parts("/blobs/"); !name.empty()) {
    return blobs(request, name, digest);
  }
  throw std::runtime_error{"the registry does not know " + request.method + " " + request.url};
}

http::Response MemoryRegistry::manifests(const http::Request& request,
                                         const std::string& name,
                                         const std::string& reference,
                                         const std::string& body) {
  auto& repository = repositories_[name];
  const bool is_digest = reference.starts_with("sha256:");
  if (request.method == "PUT") {
    if (!image::is_index(body)) {
      const auto manifest = image::parse_manifest(body, "a manifest that was put");
      auto needed = manifest.layers;
      needed.push_back(manifest.config);
      for (const auto& blob : needed) {
        if (!repository.blobs.contains(blob.digest.str())) {
          return refusal(400, "MANIFEST_BLOB_UNKNOWN");
        }
      }
    }
    const std::string digest = sha256(body).str();
    repository.manifests[digest] = body;
    if (!is_digest) {
      repository.tags[reference] = digest;
    }
    http::Response stored{.status = 201, .headers = {{"Docker-Content-Digest", digest}}};
    const auto document = parse_json(body);
    if (has_referrers_ && document.contains("subject")) {
      stored.headers.push_back({"OCI-Subject", text_at(document["subject"], "digest")});
    }
    return stored;
  }
  const auto tag = repository.tags.find(reference);
  const std::string digest = is_digest                      ? reference
                             : tag == repository.tags.end() ? std::string{}
                                                            : tag->second;
  const auto found = repository.manifests.find(digest);
  if (found == repository.manifests.end()) {
    auto missing = refusal(404, "MANIFEST_UNKNOWN");
    missing.body = request.method == "HEAD" ? "" : missing.body;
    return missing;
  }
  return {.status = 200,
          .headers = {{"Content-Type", parse_json(found->second).value("mediaType", "")},
                      {"Docker-Content-Digest", digest},
                      {"Content-Length", std::to_string(found->second.size())}},
          .body = request.method == "HEAD" ? "" : found->second};
}

http::Response MemoryRegistry::referrers(const std::string& name, const std::string& subject) {
  auto entries = nlohmann::json::array();
  for (const auto& [digest, text] : repositories_[name].manifests) {
    const auto manifest = parse_json(text);
    if (manifest.contains("subject") && text_at(manifest["subject"], "digest") == subject) {
      entries.push_back({{"mediaType", text_at(manifest, "mediaType")},
                         {"digest", digest},
                         {"size", text.size()},
                         {"artifactType", text_at(manifest, "artifactType")},
                         {"annotations", manifest.value("annotations", nlohmann::json::object())}});
    }
  }
  return {.status = 200, .body = write_json(image::index_of(std::move(entries)))};
}

http::Response MemoryRegistry::blobs(const http::Request& request,
                                     const std::string& name,
                                     const std::string& digest) {
  if (!repositories_[name].blobs.contains(digest)) {
    auto missing = refusal(404, "BLOB_UNKNOWN");
    missing.body = request.method == "HEAD" ? "" : missing.body;
    return missing;
  }
  const auto& bytes = blobs_.at(digest);
  return {.status = 200,
          .headers = {{"Content-Length", std::to_string(bytes.size())},
                      {"Docker-Content-Digest", digest}},
          .body = request.method == "HEAD" ? "" : bytes};
}

http::Response MemoryRegistry::begin_upload(const std::string& name, std::string_view query) {
  const std::string digest = value_of(query, "mount");
  const std::string from = replace_all(value_of(query, "from"), "%2F", "/");
  if (!digest.empty() && repositories_[from].blobs.contains(digest)) {
    repositories_[name].blobs[digest] = true;
    return {.status = 201, .headers = {{"Docker-Content-Digest", digest}}};
  }
  const std::string id = std::to_string(++next_upload_);
  uploads_[id];
  return {.status = 202,
          .headers = {{"Location", fmt::format("{}{}/blobs/uploads/{}", api, name, id)},
                      {"Range", "0-0"}}};
}

http::Response MemoryRegistry::upload(const http::Request& request,
                                      const std::string& name,
                                      const std::string& id,
                                      std::string_view query,
                                      const std::string& body) {
  const auto found = uploads_.find(id);
  if (found == uploads_.end()) {
    return refusal(404, "BLOB_UPLOAD_UNKNOWN");
  }
  if (request.method == "DELETE") {
    uploads_.erase(found);
    return {.status = 204};
  }
  found->second += body;
  if (request.method != "PUT") {
    const auto last = found->second.empty() ? 0 : found->second.size() - 1;
    return {.status = request.method == "PATCH" ? 202 : 204,
            .headers = {{"Location", fmt::format("{}{}/blobs/uploads/{}", api, name, id)},
                        {"Range", fmt::format("0-{}", last)}}};
  }
  const std::string digest = value_of(query, "digest");
  const std::string bytes = std::move(found->second);
  uploads_.erase(found);
  if (sha256(bytes).str() != digest) {
    return refusal(400, "DIGEST_INVALID");
  }
  blobs_[digest] = bytes;
  repositories_[name].blobs[digest] = true;
  return {.status = 201, .headers = {{"Docker-Content-Digest", digest}}};
}

std::vector<std::string> MemoryRegistry::requests() const {
  const std::lock_guard lock{mutex_};
  return requests_;
}

std::string MemoryRegistry::manifest(const std::string& repository,
                                     const std::string& reference) const {
  const std::lock_guard lock{mutex_};
  const auto found = repositories_.find(repository);
  if (found == repositories_.end()) {
    return {};
  }
  const auto tag = found->second.tags.find(reference);
  const auto manifest =
      found->second.manifests.find(tag == found->second.tags.end() ? reference : tag->second);
  return manifest == found->second.manifests.end() ? std::string{} : manifest->second;
}

std::string MemoryRegistry::blob(const std::string& digest) const {
  const std::lock_guard lock{mutex_};
  return blobs_.at(digest);
}

std::size_t MemoryRegistry::blob_count() const {
  const std::lock_guard lock{mutex_};
  return blobs_.size();
}

std::string MemoryRegistry::add_image(const std::string& repository,
                                      const std::string& tag,
                                      const std::string& configuration,
                                      const std::string& layer) {
  image::Manifest manifest{.media_type = std::string{image::media_type::oci_manifest},
                           .config = {.media_type = std::string{image::media_type::oci_config},
                                      .digest = sha256(configuration),
                                      .size = configuration.size()},
                           .layers = {{.media_type = std::string{image::media_type::oci_layer},
                                       .digest = sha256(layer),
                                       .size = layer.size()}}};
  const std::string text = image::to_json(manifest);
  const std::lock_guard lock{mutex_};
  auto& held = repositories_[repository];
  for (const auto& bytes : {configuration, layer}) {
    blobs_[sha256(bytes).str()] = bytes;
    held.blobs[sha256(bytes).str()] = true;
  }
  std::string digest = sha256(text).str();
  held.manifests[digest] = text;
  held.tags[tag] = digest;
  return digest;
}

void MemoryRegistry::remove_tag(const std::string& repository, const std::string& tag) {
  const std::lock_guard lock{mutex_};
  repositories_[repository].tags.erase(tag);
}

}  // namespace autopack::testing
