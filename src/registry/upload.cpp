#include "registry/upload.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "registry/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace autopack::registry {

/// Reads a source once, from `skip` on, while it counts and (if `hashed`) hashes all of it.
class Pass {
public:
  /// Throws Error(internal) if the source ends before `skip`.
  Pass(const BlobSource& source, std::uint64_t skip, bool hashed, const Progress& progress);

  /// As a Reader.
  std::size_t read(char* buffer, std::size_t size);

  /// Returns the number of bytes so far, including skipped ones.
  std::uint64_t count() const { return count_; }

  /// Returns the digest of all bytes; valid at the end.
  Digest digest() { return hash_.finish(); }

private:
  std::size_t take(char* buffer, std::size_t size);

  Reader reader_;
  bool hashed_;
  const Progress& progress_;
  Sha256 hash_;
  std::uint64_t count_{0};
};

Pass::Pass(const BlobSource& source, std::uint64_t skip, bool hashed, const Progress& progress)
    : reader_{source()}, hashed_{hashed}, progress_{progress} {
  std::array<char, 65536> buffer{};
  while (count_ < skip) {
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), skip - count_));
    if (take(buffer.data(), wanted) == 0) {
      throw Error(ErrorKind::internal, "the content of a layer changed while it was sent");
    }
  }
}

std::size_t Pass::read(char* buffer, std::size_t size) {
  const std::size_t count = take(buffer, size);
  if (progress_) {
    progress_(count_);
  }
  return count;
}

std::size_t Pass::take(char* buffer, std::size_t size) {
  const std::size_t count = reader_(buffer, size);
  if (hashed_) {
    hash_.update({buffer, count});
  }
  count_ += count;
  return count;
}

namespace {

/// Below this size, asking for the position is not worth a request.
constexpr std::uint64_t worth_resuming = 1U << 20U;
/// libcurl sends this much in one piece with the request's head, so the registry has everything
/// when it starts to work.
constexpr std::uint64_t one_piece = 60'000;
/// Some registries copy a large blob to their storage before they answer.
constexpr std::chrono::seconds stall_timeout{300};
/// For a registry that accepted a part and is then unreachable: it may be restarting.
constexpr int more_tries = 2;

http::Request streaming_request(std::string what, std::string method, std::string url) {
  return {.what = std::move(what),
          .method = std::move(method),
          .url = std::move(url),
          .headers = {{"Content-Type", "application/octet-stream"}},
          .timeout = std::chrono::milliseconds{0},
          .stall_timeout = stall_timeout};
}

std::string with_digest(const std::string& location, const Digest& digest) {
  return location + (location.find('?') == std::string::npos ? "?" : "&") +
         "digest=" + percent_encode(digest.str());
}

class Upload {
public:
  Upload(Caller& caller,
         const Blob& blob,
         const Progress& progress,
         const std::optional<std::string>& begun)
      : caller_{caller},
        blob_{blob},
        progress_{progress},
        asks_{!blob.is_new},
        begun_{begun.has_value()},
        location_{begun.value_or("")} {
    if (blob.known) {
      digest_ = blob.known->digest;
      size_ = blob.known->size;
    }
    if (blob.mount_from) {
      caller.also_pull(*blob.mount_from);
    }
  }

  PushedBlob run() {
    std::uint64_t furthest = worth_resuming;
    for (http::Attempt attempt;; ++attempt.number) {
      attempt.status.reset();
      attempt.reason.reset();
      attempt.retry_after.clear();
      try {
        return once();
      } catch (const http::TransportError& error) {
        attempt.reason = error.reason();
        const bool restarts = sent_ > 0 && error.reason() == http::TransportError::Reason::connect;
        if (!caller_.pause(attempt, restarts ? more_tries : 0)) {
          if (has_arrived()) {
            return result(true);
          }
          throw;
        }
      } catch (const Refused& error) {
        attempt.status = error.status();
        attempt.retry_after = error.retry_after().value_or("");
        if (!once_more(error) && !caller_.pause(is_forgotten(error) ? anew(attempt) : attempt)) {
          if (has_arrived()) {
            return result(true);
          }
          throw;
        }
        sent_ = error.status() < 500 ? 0 : sent_;
      }
      asks_ = true;  // the bytes may have arrived all the same
      recover();
      // Only new bytes count as progress: not a restart, and not one byte at a time.
      if (offset_ >= furthest) {
        furthest = offset_ + worth_resuming;
        attempt.number = 0;
      }
    }
  }

private:
  /// True for failures where an immediate retry can help; true only once for each reason.
  bool once_more(const Refused& error) {
    return (error.status() == 401 && !std::exchange(renewed_, true)) ||
           std::exchange(begun_, false) ||
           (!std::exchange(made_, true) && caller_.make_missing(error.code()));
  }

  /// The registry no longer knows the upload, or holds fewer bytes than it reported.
  bool is_forgotten(const Refused& error) const {
    const bool refused = error.status() >= 400 && error.status() < 500;
    return refused && error.status() != 401 && error.status() != 403 &&
           (offset_ > 0 || error.code() == "BLOB_UPLOAD_UNKNOWN");
  }

  /// An upload that starts from zero counts as a retry, with the pause before it.
  static http::Attempt anew(const http::Attempt& attempt) {
    return {.number = attempt.number,
            .reason = http::TransportError::Reason::reset,
            .retry_after = attempt.retry_after};
  }

  /// Checks over another connection whether the blob arrived although the last answer was lost.
  bool has_arrived() {
    if (!digest_ || sent_ == 0) {
      return false;
    }
    try {
      http::Request request = blob_question(caller_, *digest_);
      request.new_connection = true;
      return caller_.try_once(request).status == 200;
    } catch (const http::TransportError&) {
      return false;
    }
  }

  std::string what() const {
    return digest_ ? fmt::format("push blob `{}` to `{}`", digest_->str(), caller_.name())
                   : fmt::format("push a layer to `{}`", caller_.name());
  }

  PushedBlob result(bool uploaded) const { return {*digest_, size_, uploaded}; }

  PushedBlob once() {
    if (location_.empty()) {
      if ((asks_ && exists()) || begin()) {
        return result(sent_ > 0);
      }
    }
    if (blob_.known) {
      put_whole();
    } else {
      patch();
      finish();
    }
    return result(true);
  }

  bool exists() {
    if (!digest_) {
      return false;
    }
    const http::Request request = blob_question(caller_, *digest_);
    const http::Response response = caller_.try_once(request);
    // A registry that was killed while it stored the blob may report an error for it until it is
    // stored again.
    if (response.status == 500 && std::exchange(failed_to_report_, true)) {
      return false;
    }
    return blob_exists(caller_, request, response);
  }

  /// Returns true if the blob was mounted.
  bool begin() {
    http::Request request{.what = what(), .method = "POST", .url = caller_.url("blobs/uploads/")};
    const std::string plain = request.url;
    const bool mount = digest_ && blob_.mount_from;
    if (mount) {
      request.url +=
          "?mount=" + percent_encode(digest_->str()) + "&from=" + percent_encode(*blob_.mount_from);
    }
    http::Response response = caller_.try_once(request);
    if (mount && response.status == 201) {
      return true;
    }
    if (mount && response.status >= 400) {
      request.url = plain;
      response = caller_.try_once(request);
    }
    move_to(request, response, 202);
    return false;
  }

  /// Reads the upload's next location from an answer with status `wanted`.
  void move_to(const http::Request& request, const http::Response& response, int wanted) {
    if (response.status != wanted) {
      caller_.refuse(request, response);
    }
    const auto location = response.header("location");
    if (location) {
      location_ = caller_.locate(request.url, *location);
    } else if (location_.empty()) {
      throw Error(ErrorKind::remote, "could not " + what())
          .cause(fmt::format("{} {}: the answer has no location", request.method,
                             redact_url(request.url)));
    }
  }

  http::Response send_small(http::Request& request, Pass& pass) {
    request.body.resize(size_ - offset_);
    std::size_t filled = 0;
    for (std::size_t count = 1; count > 0 && filled < request.body.size(); filled += count) {
      count = pass.read(request.body.data() + filled, request.body.size() - filled);
    }
    check_whole(pass);
    sent_ = size_;
    return caller_.try_once(request);
  }

  void check_whole(const Pass& pass) const {
    if (pass.count() < size_) {
      throw Error(ErrorKind::internal, "the content of a layer changed while it was sent");
    }
  }

  http::Response send_body(http::Request& request, Pass& pass) {
    request.read_body = [this, &pass](char* buffer, std::size_t size) {
      const std::size_t count = pass.read(buffer, size);
      sent_ = std::max(sent_, pass.count());
      if (count == 0 && blob_.known) {
        check_whole(pass);
      }
      return count;
    };
    return caller_.try_once(request);
  }

  void put_whole() {
    http::Request request = streaming_request(what(), "PUT", with_digest(location_, *digest_));
    Pass pass{blob_.open, offset_, false, progress_};
    const std::uint64_t left = size_ - offset_;
    if (offset_ > 0) {
      request.headers.push_back({"Content-Range", fmt::format("{}-{}", offset_, size_ - 1)});
    }
    request.body_size = left;
    const http::Response response =
        left <= one_piece ? send_small(request, pass) : send_body(request, pass);
    if (response.status != 201 && response.status != 204) {
      caller_.refuse(request, response);
    }
  }

  void patch() {
    http::Request request = streaming_request(what(), "PATCH", location_);
    Pass pass{blob_.open, offset_, !blob_.found, progress_};
    const http::Response response = send_body(request, pass);
    move_to(request, response, 202);
    size_ = pass.count();
    digest_ = blob_.found ? blob_.found().digest : pass.digest();
  }

  void finish() {
    http::Request request = streaming_request(what(), "PUT", with_digest(location_, *digest_));
    const http::Response response = caller_.try_once(request);
    if (response.status != 201 && response.status != 204) {
      caller_.refuse(request, response);
    }
  }

  /// After a failure: continues at the registry's offset, or drops the upload.
  void recover() {
    const std::string location = std::exchange(location_, {});
    const std::uint64_t before = std::exchange(offset_, 0);
    if (location.empty() || sent_ < worth_resuming || sent_ <= before) {
      return;
    }
    const http::Request request{.what = what(), .url = location};
    try {
      const http::Response response = caller_.try_once(request);
      const std::uint64_t offset =
          response.ok() ? parse_upload_range(response.header("range").value_or("")) : 0;
      const bool useful =
          offset >= worth_resuming && offset > before && (!blob_.known || offset < size_);
      if (useful) {
        location_ = location;
        move_to(request, response, response.status);
        offset_ = offset;
      }
    } catch (const http::TransportError&) {
      location_.clear();  // then starts again, which reports the error if it persists
    }
  }

  Caller& caller_;
  const Blob& blob_;
  const Progress& progress_;
  bool asks_;
  bool begun_;  ///< by begin_upload; a refusal may refer to that request
  bool renewed_{false};
  bool made_{false};
  bool failed_to_report_{false};  ///< the check whether the blob exists failed
  std::optional<Digest> digest_{};
  std::uint64_t size_{0};
  std::string location_;
  std::uint64_t offset_{0};  ///< bytes of a broken upload that the registry holds
  std::uint64_t sent_{0};
};

}  // namespace

std::uint64_t parse_upload_range(const std::string& range) {
  const auto dash = range.find('-');
  const auto equals = range.find('=');
  if (dash == std::string::npos) {
    return 0;
  }
  const auto begin = equals == std::string::npos ? 0 : equals + 1;
  std::uint64_t last = 0;
  const char* end = range.data() + range.size();
  const auto [stop, code] = std::from_chars(range.data() + dash + 1, end, last);
  const bool from_start = range.substr(begin, dash - begin) == "0";
  // Registries send `0-0` for an empty upload, too.
  return code == std::errc{} && stop == end && from_start && last > 0 ? last + 1 : 0;
}

http::Request blob_question(Caller& caller, const Digest& digest) {
  return {.what = fmt::format("look for blob `{}` in `{}`", digest.str(), caller.name()),
          .method = "HEAD",
          .url = caller.url("blobs/" + digest.str())};
}

bool blob_exists(const Caller& caller,
                 const http::Request& request,
                 const http::Response& response) {
  if (response.status != 404 && response.status >= 400) {
    caller.refuse(request, response);
  }
  return response.status != 404;
}

PushedBlob upload(Caller& caller,
                  const Blob& blob,
                  const Progress& progress,
                  const std::optional<std::string>& begun) {
  return Upload{caller, blob, progress, begun}.run();
}

}  // namespace autopack::registry
