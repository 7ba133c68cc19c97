#include "registry/download.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::registry {

namespace {

/// If a connection transfers less than this before it breaks, that counts as an ordinary failure.
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

}  // namespace

void download(Caller& caller,
              const image::Descriptor& blob,
              const std::function<void(std::string_view)>& sink) {
  Download{caller, blob, sink}.run();
}

}  // namespace autopack::registry
