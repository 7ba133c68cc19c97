#include "base/background.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "registry/caller.hpp"
#include "registry/client.hpp"
#include "registry/referrers.hpp"
#include "registry/refusal.hpp"
#include "registry/upload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <utility>

namespace autopack::registry {

namespace {

/// If a connection breaks before it transfers this much, that counts as an ordinary failure.
constexpr std::uint64_t worth_going_on = 1U << 20U;

/// A download that continues where it broke.
class Download {
public:
  Download(Caller& caller,
           const image::Descriptor& blob,
           const std::function<void(std::string_view)>& sink)
      : caller_{caller}, blob_{blob}, sink_{sink} {}

  void run() {
    for (http::Attempt attempt;; ++attempt.number) {
      const std::uint64_t start = received_;
      try {
        const http::Request request = next_request();
        const http::Response response = caller_.try_once(request);
        attempt.status = response.status;
        attempt.reason.reset();
        attempt.retry_after = response.header("retry-after").value_or("");
        if (response.ok()) {
          verify();
          return;
        }
        if (!caller_.pause(attempt)) {
          caller_.refuse(request, response);
        }
      } catch (const http::TransportError& error) {
        attempt.reason = error.reason();
        attempt.number = received_ >= start + worth_going_on ? 1 : attempt.number;
        if (!caller_.pause(attempt)) {
          throw;
        }
      }
    }
  }

private:
  http::Request next_request() {
    http::Request request{
        .what = fmt::format("pull blob `{}` of `{}`", blob_.digest.str(), caller_.name()),
        .url = caller_.url("blobs/" + blob_.digest.str()),
        .timeout = std::chrono::milliseconds{0},
        .stall_timeout = std::chrono::seconds{60},
        .max_redirects = max_redirects};
    if (received_ > 0) {
      request.headers = {{"Range", fmt::format("bytes={}-", received_)}};
    }
    request.on_head = [this](const http::Response& head) {
      // A server that ignores the range sends the known bytes again.
      skip_ = head.status == 206 ? 0 : received_;
    };
    request.on_data = [this](std::string_view bytes) { take(bytes); };
    return request;
  }

  void take(std::string_view bytes) {
    const auto skipped = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, bytes.size()));
    skip_ -= skipped;
    bytes.remove_prefix(skipped);
    received_ += bytes.size();
    if (received_ > blob_.size) {
      throw wrong(fmt::format("it is longer than its {} bytes", blob_.size));
    }
    hash_.update(bytes);
    sink_(bytes);
  }

  void verify() {
    if (received_ != blob_.size) {
      throw wrong(fmt::format("it has {} bytes instead of {}", received_, blob_.size));
    }
    const Digest digest = hash_.finish();
    if (digest != blob_.digest) {
      throw wrong(fmt::format("its content is `{}`", digest.str()));
    }
  }

  Error wrong(const std::string& why) const {
    return Error(ErrorKind::remote,
                 fmt::format("blob `{}` of `{}` is damaged", blob_.digest.str(), caller_.name()))
        .cause(why);
  }

  Caller& caller_;
  const image::Descriptor& blob_;
  const std::function<void(std::string_view)>& sink_;
  Sha256 hash_;
  std::uint64_t received_{0};
  std::uint64_t skip_{0};
};

/// Streams a blob to `sink`, continues after a broken connection, and verifies size and digest.
void download(Caller& caller,
              const image::Descriptor& blob,
              const std::function<void(std::string_view)>& sink) {
  Download{caller, blob, sink}.run();
}

namespace media_type = image::media_type;

constexpr std::size_t manifest_limit = std::size_t{4} << 20U;
constexpr std::size_t small_blob_limit = std::size_t{8} << 20U;
/// A limit for registries that return endless pages.
constexpr int most_pages = 1'000;

/// Returns the type from the header, or from the text itself; nothing if the type is not supported.
std::optional<std::string> media_type_of(const std::string& text, const std::string& header) {
  const auto known = [](const std::string& type) {
    return type == media_type::oci_index || type == media_type::oci_manifest ||
           type == media_type::docker_list || type == media_type::docker_manifest;
  };
  const auto manifest = parse_json(text);
  const auto own = manifest.is_object() ? manifest.find("mediaType") : manifest.end();
  if (!manifest.is_object()) {
    return std::nullopt;
  }
  if (own != manifest.end()) {
    return own->is_string() && known(*own) ? std::optional{own->get<std::string>()} : std::nullopt;
  }
  const std::string type{trim(std::string_view{header}.substr(0, header.find(';')))};
  return known(type) ? std::optional{type} : std::nullopt;
}

/// Returns the target of `Link: <...>; rel="next"`, or nothing if there is none.
std::optional<std::string> next_page(const std::string& link) {
  const auto open = link.find('<');
  const auto close = open == std::string::npos ? open : link.find('>', open);
  if (close == std::string::npos || link.find("rel=\"next\"", close) == std::string::npos) {
    return std::nullopt;
  }
  return non_empty(link.substr(open + 1, close - open - 1));
}

std::uint64_t content_length(const http::Response& response) {
  const std::string text = response.header("content-length").value_or("");
  std::uint64_t size = 0;
  std::from_chars(text.data(), text.data() + text.size(), size);
  return size;
}

/// While several clients push the same blob, a registry may briefly report it as missing.
bool lacks_a_blob(const http::Response& response) {
  return response.status >= 400 && (names_code(response.body, "MANIFEST_BLOB_UNKNOWN") ||
                                    names_code(response.body, "BLOB_UNKNOWN"));
}

class HttpRepository final : public Repository {
public:
  HttpRepository(const std::string& host,
                 const std::string& path,
                 Access access,
                 RepositoryOptions options)
      : access_{access}, caller_{host, path, access, std::move(options)} {}

  ~HttpRepository() override {
    try {
      for (auto begun = take_begun(); begun; begun = take_begun()) {
        give_up_upload(caller_, *begun);
      }
    } catch (const std::exception&) {
      // The registry discards it by itself.
    }
  }

  HttpRepository(const HttpRepository&) = delete;
  HttpRepository& operator=(const HttpRepository&) = delete;

  void check_access() override {
    if (access_ == Access::push) {
      check_push(caller_);
      return;
    }
    const http::Request request{.what = fmt::format("sign in for `{}`", caller_.name()),
                                .url = caller_.root()};
    const http::Response response = caller_.send(request);
    if (!response.ok()) {
      caller_.refuse(request, response);
    }
  }

  std::optional<image::Descriptor> head_manifest(const std::string& reference) override {
    http::Request request = manifest_request(reference);
    request.method = "HEAD";
    const http::Response response = caller_.send(request);
    if (response.status == 404) {
      return std::nullopt;
    }
    const auto digest = Digest::parse(response.header("docker-content-digest").value_or(""));
    if (response.ok() && digest) {
      return image::Descriptor{.media_type = response.header("content-type").value_or(""),
                               .digest = *digest,
                               .size = content_length(response)};
    }
    // An answer to HEAD has no error text, and an old registry sends no digest; GET returns both.
    const auto whole = manifest(reference);
    return whole ? std::optional{image::Descriptor{whole->media_type, whole->digest,
                                                   whole->text.size()}}
                 : std::nullopt;
  }

  std::optional<StoredManifest> manifest(const std::string& reference) override {
    const http::Request request = manifest_request(reference);
    const http::Response response = caller_.send(request);
    if (response.status == 404) {
      return std::nullopt;
    }
    if (!response.ok()) {
      caller_.refuse(request, response);
    }
    return verified(reference, response);
  }

  std::optional<StoredManifest> image_manifest(const std::string& reference,
                                               const std::string& platform) override {
    auto found = manifest(reference);
    // An index may contain an index, but the depth is limited.
    for (int depth = 0; found && image::is_index(found->text) && depth < 3; ++depth) {
      const std::string what = "`" + name_of(reference) + "`";
      const auto entries = image::parse_index(found->text, what);
      found = manifest(image::choose(entries, platform, what).manifest.digest.str());
    }
    return found;
  }

  bool put_manifest(const StoredManifest& manifest,
                    const std::optional<std::string>& tag) override {
    const std::string reference = tag.value_or(manifest.digest.str());
    const http::Request request{.what = fmt::format("push `{}`", name_of(reference)),
                                .method = "PUT",
                                .url = caller_.url("manifests/" + reference),
                                .headers = {{"Content-Type", manifest.media_type}},
                                .body = manifest.text};
    http::Response response = caller_.send(request);
    for (http::Attempt attempt{.status = 503}; lacks_a_blob(response) && caller_.pause(attempt);
         ++attempt.number) {
      response = caller_.send(request);
    }
    if (!response.ok()) {
      caller_.refuse(request, response);
    }
    const auto digest = response.header("docker-content-digest");
    if (digest && *digest != manifest.digest.str()) {
      throw Error(ErrorKind::remote, "could not " + request.what)
          .cause(fmt::format("the registry stored `{}` instead of `{}`", printable(*digest),
                             manifest.digest.str()));
    }
    return response.header("oci-subject").has_value();
  }

  bool has_blob(const Digest& digest, std::optional<std::uint64_t> size) override {
    const http::Request request = blob_question(caller_, digest);
    const auto answer = caller_.send(request);
    const auto length = answer.ok() ? answer.header("content-length") : std::nullopt;
    return blob_exists(caller_, request, answer) &&
           (!size || !length || length == "0" || *length == std::to_string(*size));
  }

  void fetch_blob(const image::Descriptor& blob,
                  const std::function<void(std::string_view)>& sink) override {
    download(caller_, blob, sink);
  }

  std::string read_blob(const image::Descriptor& blob) override {
    if (blob.size > small_blob_limit) {
      throw Error(ErrorKind::remote,
                  fmt::format("blob `{}` of `{}` is larger than {}", blob.digest.str(),
                              caller_.name(), human_size(small_blob_limit)));
    }
    std::string text;
    fetch_blob(blob, [&](std::string_view bytes) { text += bytes; });
    return text;
  }

  PushedBlob push_blob(const Blob& blob, const Progress& progress) override {
    return upload(caller_, blob, progress, blob.is_new ? take_begun() : std::nullopt);
  }

  void begin_uploads(std::size_t count) override {
    const std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < count; ++i) {
      begun_.push_back(in_background([this] { return begin_upload(caller_); }));
    }
  }

  std::vector<std::string> tags() override {
    std::vector<std::string> names;
    std::optional url = caller_.url("tags/list?n=1000");
    for (int page = 0; page < most_pages && url; ++page) {
      const http::Request request{.what = fmt::format("list the tags of `{}`", caller_.name()),
                                  .url = *url};
      const http::Response response = caller_.send(request);
      if (response.status == 404) {
        return {};
      }
      if (!response.ok()) {
        caller_.refuse(request, response);
      }
      const auto answer = parse_json(response.body);
      const std::size_t before = names.size();
      if (answer.is_object() && answer.contains("tags") && answer["tags"].is_array()) {
        for (const auto& name : answer["tags"]) {
          if (name.is_string()) {
            names.push_back(name.get<std::string>());
          }
        }
      }
      const auto next = next_page(response.header("link").value_or(""));
      url =
          next && names.size() > before ? std::optional{caller_.locate(*url, *next)} : std::nullopt;
    }
    return names;
  }

  std::optional<std::vector<Referrer>> referrers(const Digest& subject) override {
    std::vector<Referrer> found;
    std::optional url = caller_.url("referrers/" + subject.str());
    for (int page = 0; page < most_pages && url; ++page) {
      const http::Request request{
          .what = fmt::format("list the documents about `{}`", name_of(subject.str())),
          .url = *url,
          .headers = {{"Accept", std::string{media_type::oci_index}}},
          .max_redirects = max_redirects};
      const http::Response response = caller_.send(request);
      // A registry without this API answers 404, and some that see no repository in the path 405.
      if (response.status == 404 || response.status == 405) {
        return std::nullopt;
      }
      if (!response.ok()) {
        caller_.refuse(request, response);
      }
      const auto more = parse_referrers(response.body, "the list of documents");
      found.insert(found.end(), more.begin(), more.end());
      if (found.size() > most_referrers) {
        throw Error(ErrorKind::remote, fmt::format("`{}` has more than {} documents",
                                                   name_of(subject.str()), most_referrers));
      }
      const auto next = next_page(response.header("link").value_or(""));
      url = next && !more.empty() ? std::optional{caller_.locate(*url, *next)} : std::nullopt;
    }
    return found;
  }

private:
  /// Returns the location of an upload that was started and not used; nothing if there is none
  /// left.
  std::optional<std::string> take_begun() {
    std::unique_lock lock{mutex_};
    while (!begun_.empty()) {
      auto begun = std::move(begun_.back());
      begun_.pop_back();
      lock.unlock();
      try {
        return begun.get();
      } catch (const std::exception&) {
        lock.lock();
      }
    }
    return {};
  }

  std::string name_of(const std::string& reference) const {
    const bool digest = reference.find(':') != std::string::npos;
    return caller_.name() + (digest ? "@" : ":") + reference;
  }

  http::Request manifest_request(const std::string& reference) {
    return {.what = fmt::format("read the manifest of `{}`", name_of(reference)),
            .url = caller_.url("manifests/" + reference),
            .headers = {{"Accept", fmt::format("{}, {}, {}, {}", media_type::oci_index,
                                               media_type::oci_manifest, media_type::docker_list,
                                               media_type::docker_manifest)}},
            .max_redirects = max_redirects};
  }

  StoredManifest verified(const std::string& reference, const http::Response& response) const {
    const auto wrong = [&](const std::string& why) -> Error {
      return Error(ErrorKind::remote,
                   fmt::format("the manifest of `{}` cannot be used", name_of(reference)))
          .cause(why);
    };
    if (response.body.size() > manifest_limit) {
      throw wrong("it is larger than " + human_size(manifest_limit));
    }
    StoredManifest manifest{.text = response.body, .digest = sha256(response.body)};
    const bool by_digest = reference.find(':') != std::string::npos;
    const std::string wanted =
        by_digest ? reference
                  : response.header("docker-content-digest").value_or(manifest.digest.str());
    if (manifest.digest.str() != wanted) {
      throw wrong(
          fmt::format("its content is `{}`, not `{}`", manifest.digest.str(), printable(wanted)));
    }
    const auto type = media_type_of(manifest.text, response.header("content-type").value_or(""));
    if (!type) {
      throw wrong("it is neither an OCI nor a Docker schema 2 manifest");
    }
    manifest.media_type = *type;
    return manifest;
  }

  Access access_;
  Caller caller_;
  std::mutex mutex_{};
  std::vector<Background<std::string>> begun_{};  // last: they use caller_
};

}  // namespace

BlobSource source_of(std::string bytes) {
  return [bytes = std::make_shared<const std::string>(std::move(bytes))]() -> Reader {
    return [bytes, at = std::size_t{0}](char* buffer, std::size_t size) mutable {
      const std::size_t count = bytes->copy(buffer, size, at);
      at += count;
      return count;
    };
  };
}

std::unique_ptr<Repository> make_repository(const std::string& host,
                                            const std::string& path,
                                            Access access,
                                            RepositoryOptions options) {
  return std::make_unique<HttpRepository>(host, path, access, std::move(options));
}

}  // namespace autopack::registry
