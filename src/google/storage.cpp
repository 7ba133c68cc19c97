#include "google/storage.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/cloud_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace autopack::google {

using nlohmann::json;
using std::chrono::milliseconds;

namespace {

/// A multiple of 256 KiB, as the API requires.
constexpr std::size_t upload_piece = std::size_t{8} << 20U;
constexpr int most_upload_failures = 5;
constexpr milliseconds first_upload_wait{500};

constexpr std::string_view api_path{"/storage/v1"};

std::string object_path(const std::string& bucket, const std::string& name) {
  return fmt::format("/b/{}/o/{}", percent_encode(bucket), percent_encode(name));
}

StoredObject read_object(const Upload& upload, const http::Response& response, const Call& call) {
  const auto answer = parse_json(response.body);
  const auto generation = text_at(answer, "generation");
  if (generation.empty() || !is_alphanumeric(generation)) {
    throw Error(ErrorKind::remote, "could not " + call.what)
        .cause(fmt::format("the response of `{}` names no generation",
                           redact_url(call.url.substr(0, call.url.find('?')))));
  }
  return {.bucket = upload.bucket, .name = upload.name, .generation = generation};
}

/// Returns how many bytes the service has, from the header `Range: bytes=0-N` of a 308.
std::uint64_t received(const http::Response& response) {
  const auto range = response.header("range").value_or("");
  const auto dash = range.rfind('-');
  std::uint64_t last = 0;
  if (!range.starts_with("bytes=0-") ||
      std::from_chars(range.data() + dash + 1, range.data() + range.size(), last).ec !=
          std::errc{}) {
    return 0;
  }
  return last + 1;
}

/// One resumable upload, from its session on.
class Session {
public:
  Session(Service& service, const Upload& upload, std::string url)
      : service_{service}, upload_{upload}, url_{std::move(url)} {}

  /// Sends the next piece, or asks how much arrived if the last answer was lost. Returns the
  /// answer.
  http::Response step() {
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(upload_piece, upload_.size - offset_));
    Call call = this->call();
    if (is_lost_ || size == 0) {
      call.headers.push_back({"Content-Range", fmt::format("bytes */{}", upload_.size)});
    } else {
      call.body = upload_.read(offset_, size);
      call.headers.push_back({"Content-Range", fmt::format("bytes {}-{}/{}", offset_,
                                                           offset_ + size - 1, upload_.size)});
    }
    is_lost_ = true;
    return service_.send(call);
  }

  /// Continues after the bytes that the service has; returns false if it made no progress.
  bool go_on(const http::Response& response) {
    is_lost_ = false;
    const auto there = std::min(received(response), upload_.size);
    const bool is_progress = there > std::exchange(offset_, there);
    if (upload_.progress) {
      upload_.progress(offset_);
    }
    return is_progress;
  }

  Call call() const { return {.what = "send the source", .method = "PUT", .url = url_}; }

private:
  Service& service_;
  const Upload& upload_;
  std::string url_;
  std::uint64_t offset_{0};
  bool is_lost_{false};
};

}  // namespace

Storage::Storage(Service& service, std::optional<std::string> endpoint_override)
    : service_{&service}, override_{std::move(endpoint_override)} {
  if (override_) {
    auto base = endpoint_of("", override_);
    if (base.ends_with(api_path)) {
      base.resize(base.size() - api_path.size());
    }
    override_ = std::move(base);
  }
}

std::string Storage::root() const {
  return endpoint_of("storage.googleapis.com", override_);
}

std::optional<std::vector<std::string>> Storage::missing_permissions(
    const std::string& bucket, const std::vector<std::string>& permissions) const {
  Call call{.what = fmt::format("look at bucket `gs://{}`", bucket),
            .url = fmt::format("{}{}/b/{}/iam/testPermissions", root(), api_path,
                               percent_encode(bucket))};
  for (const auto& permission : permissions) {
    call.url += (call.url.ends_with("Permissions") ? "?permissions=" : "&permissions=") +
                percent_encode(permission);
  }
  const auto response = service_->ask(call);
  if (response.status == 404) {
    return std::nullopt;
  }
  if (!response.ok()) {
    throw refusal("could not " + call.what, call, response);
  }
  const auto answer = parse_json(response.body);
  const auto& granted = list_in(answer, "permissions");
  std::vector<std::string> missing;
  std::ranges::copy_if(permissions, std::back_inserter(missing),
                       [&](const std::string& one) { return !contains(granted, one); });
  return missing;
}

bool Storage::is_in_project(const std::string& bucket, const std::string& project) const {
  const Call call{.what = fmt::format("list the buckets of project `{}`", project),
                  .url = fmt::format("{}{}/b?project={}&prefix={}", root(), api_path,
                                     percent_encode(project), percent_encode(bucket))};
  const auto answer = service_->ask_json(call);
  return std::ranges::any_of(list_in(answer, "items"),
                             [&](const json& one) { return text_at(one, "name") == bucket; });
}

/// Returns the URL of the session. It comes from the service and gets a token, so it must be one of
/// the service.
std::string Storage::begin(const Upload& upload) const {
  const Call call{.what = "send the source",
                  .method = "POST",
                  .url = fmt::format(
                      "{}/upload{}/b/{}/o?uploadType=resumable&ifGenerationMatch=0&name={}", root(),
                      api_path, percent_encode(upload.bucket), percent_encode(upload.name)),
                  .body = write_json(json{{"contentType", upload.content_type}}),
                  .headers = {{"X-Upload-Content-Type", upload.content_type},
                              {"X-Upload-Content-Length", std::to_string(upload.size)}}};
  const auto response = service_->ask(call);
  if (!response.ok()) {
    throw refusal(fmt::format("could not send the source to `gs://{}`", upload.bucket), call,
                  response);
  }
  auto session = response.header("location").value_or("");
  const auto there = Url::parse(session);
  if (!there || there->origin() != Url::parse(root()).value().origin()) {
    throw Error(ErrorKind::remote, "could not " + call.what)
        .cause(fmt::format("Cloud Storage names no address for the upload of its own: `{}`",
                           printable(redact_url(session))));
  }
  return session;
}

/// Returns the uploaded object if it is whole.
std::optional<StoredObject> Storage::find(const Upload& upload) const {
  const Call call{
      .what = "look at the source",
      .url = fmt::format("{}{}{}", root(), api_path, object_path(upload.bucket, upload.name))};
  const auto response = service_->ask(call);
  if (!response.ok()) {
    return std::nullopt;
  }
  const bool is_whole = text_at(parse_json(response.body), "size") == std::to_string(upload.size);
  return is_whole ? std::optional{read_object(upload, response, call)} : std::nullopt;
}

StoredObject Storage::upload(const Upload& upload) const {
  std::optional<Session> session{std::in_place, *service_, upload, begin(upload)};
  int failures = 0;
  const auto fail = [&] {
    ++failures;
    service_->options().sleep(first_upload_wait * failures);
  };
  while (true) {
    http::Response response;
    try {
      response = session->step();
    } catch (const http::TransportError& error) {
      if (failures == most_upload_failures || error.reason() == http::TransportError::Reason::tls) {
        throw;
      }
      fail();
      continue;
    }
    if (response.ok()) {
      if (text_at(parse_json(response.body), "generation").empty()) {
        if (auto found = find(upload)) {  // the answer was cut
          return *found;
        }
      }
      return read_object(upload, response, session->call());
    }
    if (response.status == 308) {
      if (session->go_on(response)) {
        failures = 0;
      } else if (++failures > most_upload_failures) {
        throw Error(ErrorKind::remote, "could not send the source")
            .cause("Cloud Storage keeps none of the bytes that it gets");
      }
    } else if (is_passing(response.status) && failures < most_upload_failures) {
      fail();
    } else if ((response.status == 404 || response.status == 410) &&
               failures < most_upload_failures) {
      fail();  // the session has ended
      session.emplace(*service_, upload, begin(upload));
    } else if (auto found = response.status == 412 ? find(upload) : std::nullopt) {
      return *found;
    } else {
      throw refusal(fmt::format("could not send the source to `gs://{}`", upload.bucket),
                    session->call(), response);
    }
  }
}

void Storage::remove(const StoredObject& object) const {
  Call call{
      .what = fmt::format("delete `{}`", object.url()),
      .method = "DELETE",
      .url = fmt::format("{}{}{}", root(), api_path, object_path(object.bucket, object.name))};
  if (!object.generation.empty()) {
    call.url += "?generation=" + object.generation;
  }
  const auto response = service_->ask(call);
  if (!response.ok() && response.status != 404) {
    throw refusal("could not " + call.what, call, response);
  }
}

ObjectPart Storage::read(const StoredObject& object, std::uint64_t offset, std::size_t size) const {
  const Call call{.what = fmt::format("read `{}`", object.url()),
                  .url = fmt::format("{}{}{}?alt=media", root(), api_path,
                                     object_path(object.bucket, object.name)),
                  .headers = {{"Range", fmt::format("bytes={}-{}", offset, offset + size - 1)}}};
  const auto response = service_->send(call);
  if (response.status == 404) {
    return {.is_there = false};
  }
  if (response.status == 416) {
    return {};  // nothing new
  }
  if (!response.ok()) {
    throw refusal("could not " + call.what, call, response);
  }
  // A service that ignores the range sends all of it.
  if (response.status == 200) {
    return {.bytes = response.body.substr(std::min<std::size_t>(offset, response.body.size()))};
  }
  return {.bytes = response.body};
}

}  // namespace autopack::google
