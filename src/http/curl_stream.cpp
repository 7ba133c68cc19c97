#include "base/broken_pipe.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "http/curl_handle.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace autopack::http {

namespace {

constexpr std::size_t stream_head_limit = 65536;
constexpr std::size_t stream_refusal_limit = 65536;

class CurlStream final : public Stream {
public:
  CurlStream(Request request, const ClientOptions& options)
      : request_{std::move(request)}, cancellation_{options.cancellation}, easy_{make_easy()} {
    detour_ = set_connection(easy_.get(), request_, request_.url, text_.data());
    set_option(easy_.get(), CURLOPT_CONNECT_ONLY, 1L);
    // The time limit of a request would end a long attached session.
    set_option(easy_.get(), CURLOPT_TIMEOUT_MS, 0L);
    const BrokenPipeGuard guard;
    check(curl().easy_perform(easy_.get()));
    check(curl().easy_getinfo(easy_.get(), CURLINFO_ACTIVESOCKET, &socket_));
  }

  int descriptor() const override { return socket_; }

  std::size_t read(char* buffer, std::size_t size) override {
    const BrokenPipeGuard guard;
    for (;;) {
      std::size_t count = 0;
      const CURLcode code = curl().easy_recv(easy_.get(), buffer, size, &count);
      if (code == CURLE_OK) {
        return count;
      }
      if (code != CURLE_AGAIN) {
        check(code);
      }
      wait(POLLIN);
    }
  }

  void write(std::string_view bytes) override {
    const BrokenPipeGuard guard;
    while (!bytes.empty()) {
      std::size_t count = 0;
      const CURLcode code = curl().easy_send(easy_.get(), bytes.data(), bytes.size(), &count);
      if (code == CURLE_AGAIN) {
        wait(POLLOUT);
      } else {
        check(code);
        bytes.remove_prefix(count);
      }
    }
  }

  void close_write() override { ::shutdown(socket_, SHUT_WR); }

private:
  void check(CURLcode code) {
    if (code != CURLE_OK) {
      throw_failure(request_, request_.url, easy_.get(), code, text_.data());
    }
  }

  void wait(short events) const {
    pollfd entry{socket_, events, 0};
    constexpr int poll_milliseconds = 100;
    while (::poll(&entry, 1, poll_milliseconds) == 0) {
      if (cancellation_ != nullptr) {
        cancellation_->throw_if_requested();
      }
    }
  }

  Request request_;
  const Cancellation* cancellation_;
  std::array<char, CURL_ERROR_SIZE> text_{};
  HeaderList detour_{};  // until the handle is closed
  Easy easy_;
  curl_socket_t socket_{CURL_SOCKET_BAD};
};

std::string head_of(const Request& request, const ClientOptions& options) {
  const auto url = Url::parse(request.url);
  const std::string origin = url->origin();
  std::string head = fmt::format(
      "{} {}{} HTTP/1.1\r\nHost: {}\r\n", request.method, url->path.empty() ? "/" : url->path,
      url->query.empty() ? "" : "?" + url->query, origin.substr(origin.find("://") + 3));
  if (!options.user_agent.empty()) {
    head += "User-Agent: " + options.user_agent + "\r\n";
  }
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(request.headers,
                               [&](const Header& header) { return to_lower(header.name) == name; });
  };
  for (const auto& [name, value] : request.headers) {
    if ((name + value).find_first_of("\r\n") != std::string::npos) {
      throw Error(ErrorKind::internal, fmt::format("header `{}` holds a line break", name));
    }
    head += fmt::format("{}: {}\r\n", name, value);
  }
  head += "Connection: Upgrade\r\n";
  head += has("upgrade") ? "" : "Upgrade: tcp\r\n";
  return head + fmt::format("Content-Length: {}\r\n\r\n", request.body.size());
}

/// Reads byte by byte, so that everything after the head stays in the stream.
std::string read_head(Stream& stream, const Request& request) {
  std::string head;
  char byte = 0;
  while (!head.ends_with("\r\n\r\n")) {
    if (stream.read(&byte, 1) == 0) {
      throw_transport(TransportError::Reason::reset, request, request.url,
                      "the connection was closed without an answer");
    }
    head += byte;
    if (head.size() > stream_head_limit) {
      throw_transport(TransportError::Reason::protocol, request, request.url,
                      "the answer's head is incomplete");
    }
  }
  return head;
}

int status_of(const std::string& head) {
  int status = 0;
  if (head.starts_with("HTTP/1.") && head.size() > 12) {
    std::from_chars(head.data() + 9, head.data() + 12, status);
  }
  return status;
}

/// Returns the text of a refusal: `Content-Length` bytes, else what arrived with the head.
std::string read_refusal(Stream& stream, const std::string& head) {
  std::size_t size = 0;
  for (const auto& line : split(head, '\n')) {
    const auto colon = line.find(':');
    if (colon != std::string::npos && to_lower(line.substr(0, colon)) == "content-length") {
      const std::string value{trim(std::string_view{line}.substr(colon + 1))};
      std::from_chars(value.data(), value.data() + value.size(), size);
    }
  }
  std::string body(std::min(size, stream_refusal_limit), '\0');
  std::size_t count = 0;
  while (count < body.size()) {
    const std::size_t more = stream.read(body.data() + count, body.size() - count);
    if (more == 0) {
      break;
    }
    count += more;
  }
  body.resize(count);
  return body;
}

}  // namespace

std::unique_ptr<Stream> open_stream(const Request& request, const ClientOptions& options) {
  if (!Url::parse(request.url)) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not a URL", redact_url(request.url)));
  }
  auto stream = std::make_unique<CurlStream>(request, options);
  stream->write(head_of(request, options) + request.body);
  const std::string head = read_head(*stream, request);
  const int status = status_of(head);
  if (status == 101 || status == 200) {
    return stream;
  }
  const std::string body = read_refusal(*stream, head);
  const std::string answer =
      fmt::format("{}: {}: {}", describe(request, request.url), status, printable(trim(body)));
  throw request.what.empty() ? Error(ErrorKind::remote, answer)
                             : Error(ErrorKind::remote, "could not " + request.what).cause(answer);
}

}  // namespace autopack::http
