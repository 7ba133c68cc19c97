#include "base/text.hpp"
#include "base/url.hpp"
#include "http/curl_handle.hpp"
#include "http/echo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

// The only place that talks HTTP. Requests have limits of time and size, are retried only if they
// can be repeated, and stop when the user interrupts the run. http/echo.cpp masks secrets before
// anything is logged.

namespace autopack::http {

namespace {

/// A libcurl handle with its connections, and the server it talked to last.
struct Line {
  std::string place{};
  Multi multi{};
  Easy easy{};
};

std::string place_of(const Request& request, const std::string& url) {
  const auto parsed = Url::parse(url);
  if (!parsed) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not a URL", redact_url(url)));
  }
  return request.unix_socket.empty() ? parsed->origin() : request.unix_socket.string();
}

/// Resolves `location` against `url` and removes user information; returns nothing if it is not a
/// URL.
std::optional<std::string> resolve(const std::string& url, const std::string& location) {
  const UrlParts handle{curl().url()};
  char* text = nullptr;
  const bool good = curl().url_set(handle.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK &&
                    curl().url_set(handle.get(), CURLUPART_URL, location.c_str(), 0) == CURLUE_OK &&
                    curl().url_set(handle.get(), CURLUPART_USER, nullptr, 0) == CURLUE_OK &&
                    curl().url_set(handle.get(), CURLUPART_PASSWORD, nullptr, 0) == CURLUE_OK &&
                    curl().url_get(handle.get(), CURLUPART_URL, &text, 0) == CURLUE_OK;
  std::optional<std::string> result;
  if (good) {
    result = text;
  }
  curl().free(text);
  return result;
}

bool is_redirect(const Response& response) {
  const bool moved = response.status == 301 || response.status == 302 || response.status == 303 ||
                     response.status == 307 || response.status == 308;
  return moved && response.header("location");
}

/// Runs `action`, which sets the status, and reports the result to the reporter.
template <class Action>
auto reported(const ClientOptions& options,
              const Request& request,
              const std::string& url,
              Action&& action) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto report = [&](const std::string& outcome) {
    if (options.reporter != nullptr) {
      const auto spent =
          std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
      options.reporter->detail(
          fmt::format("{} {} {} ms", describe(request, url), outcome, spent.count()));
    }
  };
  int status = 0;
  try {
    auto result = action(status);
    report(std::to_string(status));
    return result;
  } catch (const std::exception&) {
    report("failed");
    throw;
  }
}

class CurlClient final : public Client {
public:
  explicit CurlClient(ClientOptions options) : options_{std::move(options)} {}

  Response send(const Request& request) override {
    const bool may_follow = request.max_redirects > 0 && request.unix_socket.empty() &&
                            (request.method == "GET" || request.method == "HEAD");
    Response response = send_once(request, request.url);
    response.url = request.url;
    if (!may_follow || !is_redirect(response)) {
      return response;
    }
    Request next = request;
    std::string url = request.url;
    for (int i = 0; i < request.max_redirects && is_redirect(response); ++i) {
      url = next_url(next, url, *response.header("location"));
      response = send_once(next, url);
    }
    if (is_redirect(response)) {
      throw_transport(TransportError::Reason::protocol, request, url, "too many redirects");
    }
    response.url = url;
    return response;
  }

  std::unique_ptr<Stream> upgrade(const Request& request) override {
    return reported(options_, request, request.url, [&](int& status) {
      auto stream = open_stream(request, options_);
      status = 101;
      return stream;
    });
  }

private:
  static std::string next_url(Request& request,
                              const std::string& url,
                              const std::string& location) {
    auto next = resolve(url, location);
    const auto from = Url::parse(url);
    const auto to = next ? Url::parse(*next) : std::nullopt;
    if (!to || (to->scheme != "https" && (to->scheme != "http" || from->scheme != "http"))) {
      throw_transport(TransportError::Reason::protocol, request, url,
                      fmt::format("redirect to `{}` refused", redact_url(location)));
    }
    if (to->origin() != from->origin()) {
      std::erase_if(request.headers, [](const Header& header) {
        const std::string name = to_lower(header.name);
        return name == "authorization" || name == "cookie" || name == "x-registry-auth";
      });
      const bool keeps = request.tls.ca_for_redirects;
      request.tls = {.ca_file = keeps ? request.tls.ca_file : std::filesystem::path{},
                     .ca_for_redirects = keeps};
    }
    return *std::move(next);
  }

  Response send_once(const Request& request, const std::string& url) {
    if (options_.cancellation != nullptr) {
      options_.cancellation->throw_if_requested();
    }
    Line line = take(place_of(request, url));
    Response response = reported(options_, request, url, [&](int& status) {
      Response answer = transfer(line.multi.get(), line.easy.get(), request, url, options_);
      status = answer.status;
      return answer;
    });
    // If the transfer threw, the line is dropped: its connection may be in the middle of an answer.
    {
      const std::scoped_lock lock{mutex_};
      idle_.push_back(std::move(line));
    }
    if (!response.ok()) {
      hide_logins(request, response);
    }
    return response;
  }

  Line take(const std::string& place) {
    {
      const std::scoped_lock lock{mutex_};
      const auto found = std::find_if(idle_.rbegin(), idle_.rend(),
                                      [&](const Line& line) { return line.place == place; });
      if (found != idle_.rend()) {
        Line line = std::move(*found);
        idle_.erase(std::next(found).base());
        return line;
      }
    }
    Line line{.place = place, .easy = make_easy()};
    line.multi.reset(curl().multi_init());
    return line;
  }

  CurlLoading loading_{};
  ClientOptions options_;
  std::mutex mutex_;
  std::vector<Line> idle_;
};

}  // namespace

std::unique_ptr<Client> make_client(ClientOptions options) {
  return std::make_unique<CurlClient>(std::move(options));
}

}  // namespace autopack::http
