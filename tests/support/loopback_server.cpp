#include "support/loopback_server.hpp"

#include "base/text.hpp"
#include "support/loopback_address.hpp"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace autopack::testing {

std::string ReceivedRequest::header(std::string_view name) const {
  http::Response helper;
  helper.headers = headers;
  return helper.header(name).value_or("");
}

namespace {

/// Reads one connection; stops if the server stops.
class Wire {
public:
  Wire(int descriptor, const std::atomic<bool>& stop) : descriptor_{descriptor}, stop_{stop} {}

  ~Wire() { ::close(descriptor_); }

  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Returns false at the end of the connection.
  bool more() {
    pollfd entry{descriptor_, POLLIN, 0};
    while (!stop_ && ::poll(&entry, 1, 5) == 0) {
    }
    std::array<char, 65536> bytes{};
    const ssize_t count = stop_ ? 0 : ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (count <= 0) {
      return false;
    }
    buffer.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
  }

  bool need(std::size_t size) {
    while (buffer.size() < size) {
      if (!more()) {
        return false;
      }
    }
    return true;
  }

  /// Reads up to and including `end`; returns false if the connection ends before.
  bool take_until(std::string_view end, std::string& text) {
    std::size_t at = 0;
    while ((at = buffer.find(end)) == std::string::npos) {
      if (!more()) {
        return false;
      }
    }
    text = take(at + end.size());
    return true;
  }

  std::string take(std::size_t size) {
    std::string text = buffer.substr(0, size);
    buffer.erase(0, size);
    return text;
  }

  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  void sleep(std::chrono::milliseconds time) const {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!stop_ && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }

  std::string buffer{};

private:
  int descriptor_;
  const std::atomic<bool>& stop_;
};

bool read_head(Wire& wire, ReceivedRequest& request) {
  std::string head;
  if (!wire.take_until("\r\n\r\n", head)) {
    return false;
  }
  const auto lines = split(head, '\n');
  const auto words = split(lines.at(0), ' ');
  request.method = words.at(0);
  request.target = words.at(1);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto colon = lines[i].find(':');
    if (colon != std::string::npos) {
      request.headers.push_back({lines[i].substr(0, colon),
                                 std::string{trim(std::string_view{lines[i]}.substr(colon + 1))}});
    }
  }
  return true;
}

bool read_body(Wire& wire, ReceivedRequest& request) {
  if (request.header("transfer-encoding") != "chunked") {
    const std::string length = request.header("content-length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    if (!wire.need(size)) {
      return false;
    }
    request.body = wire.take(size);
    return true;
  }
  for (;;) {
    std::string line;
    if (!wire.take_until("\r\n", line)) {
      return false;
    }
    const std::size_t size = std::stoul(line, nullptr, 16);
    if (!wire.need(size + 2)) {
      return false;
    }
    request.body += wire.take(size);
    wire.take(2);
    if (size == 0) {
      return true;
    }
  }
}

std::string head_of(const Reply& reply) {
  std::string head = fmt::format("HTTP/1.1 {} Scripted\r\n", reply.status);
  for (const auto& [name, value] : reply.headers) {
    head += name + ": " + value + "\r\n";
  }
  if (reply.chunked) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (reply.status != 101 && reply.status != 204 && reply.status != 304 &&
             head.find("Content-Length:") == std::string::npos) {
    head += fmt::format("Content-Length: {}\r\n", reply.body.size());
  }
  return head + (reply.close ? "Connection: close\r\n\r\n" : "\r\n");
}

/// Returns false at the end of the connection.
bool answer(Wire& wire, const Reply& reply, bool head_only) {
  wire.sleep(reply.stall);
  if (reply.drop) {
    return false;
  }
  if (!reply.raw.empty()) {
    return wire.send(reply.raw) && !reply.close;
  }
  std::string body = head_only ? "" : reply.body;
  if (reply.chunked && !head_only) {
    const std::size_t size = reply.piece == 0 ? std::max<std::size_t>(body.size(), 1) : reply.piece;
    std::string framed;
    for (std::size_t at = 0; at < body.size(); at += size) {
      const std::string part = body.substr(at, size);
      framed += fmt::format("{:x}\r\n{}\r\n", part.size(), part);
    }
    body = framed + "0\r\n\r\n";
  }
  if (reply.drop_after) {
    wire.send(head_of(reply) + body.substr(0, *reply.drop_after));
    return false;
  }
  const std::string all = head_of(reply) + body;
  const std::size_t piece = reply.piece == 0 ? all.size() : reply.piece;
  for (std::size_t at = 0; at < all.size(); at += piece) {
    if (!wire.send(std::string_view{all}.substr(at, piece))) {
      return false;
    }
    if (reply.piece != 0) {
      std::this_thread::sleep_for(std::chrono::microseconds{200});
    }
  }
  return !reply.close;
}

int listen_on(const std::filesystem::path& unix_socket, int& port) {
  int descriptor = -1;
  if (unix_socket.empty()) {
    descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error{"cannot bind on loopback"};
    }
    port = ntohs(address.sin_port);
  } else {
    descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, unix_socket.c_str(), sizeof address.sun_path - 1);
    if (::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error{"cannot bind a unix socket"};
    }
  }
  if (::listen(descriptor, 64) != 0) {
    throw std::runtime_error{"cannot listen"};
  }
  return descriptor;
}

}  // namespace

struct LoopbackServer::State {
  Handler handler{};
  int port{0};
  int listener{-1};
  std::atomic<bool> stop{false};
  mutable std::mutex mutex{};
  std::vector<ReceivedRequest> requests{};
  std::list<std::thread> threads{};
  std::thread acceptor{};

  void accept_all() {
    for (int connection = 1; !stop; ++connection) {
      pollfd entry{listener, POLLIN, 0};
      while (!stop && ::poll(&entry, 1, 5) == 0) {
      }
      const int descriptor = stop ? -1 : ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (descriptor < 0) {
        continue;
      }
      const int yes = 1;
      ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      threads.emplace_back([this, descriptor, connection] { serve(descriptor, connection); });
    }
  }

  void serve(int descriptor, int connection) {
    Wire wire{descriptor, stop};
    for (;;) {
      ReceivedRequest request;
      request.connection = connection;
      if (!read_head(wire, request)) {
        return;
      }
      // Asks the handler before the body for a reply that does not wait for it.
      const bool has_body =
          !request.header("transfer-encoding").empty() || !request.header("content-length").empty();
      if (has_body && request.header("x-early") == "1") {
        record(request);
        answer(wire, handler(request), false);
        return;
      }
      if (!read_body(wire, request)) {
        record(request);
        return;
      }
      record(request);
      const Reply reply = handler(request);
      const bool keep = answer(wire, reply, request.method == "HEAD");
      if (reply.echo_after) {
        do {
          wire.send(wire.take(wire.buffer.size()));
        } while (wire.more());
        return;
      }
      if (!keep) {
        return;
      }
    }
  }

  void record(const ReceivedRequest& request) {
    const std::scoped_lock lock{mutex};
    requests.push_back(request);
  }
};

LoopbackServer::LoopbackServer(Handler handler, const std::filesystem::path& unix_socket)
    : state_{std::make_unique<State>()} {
  state_->handler = std::move(handler);
  state_->listener = listen_on(unix_socket, state_->port);
  state_->acceptor = std::thread{[this] { state_->accept_all(); }};
}

LoopbackServer::LoopbackServer(std::vector<Reply> replies, const std::filesystem::path& unix_socket)
    : LoopbackServer{
          [replies = std::move(replies),
           next = std::make_shared<std::atomic<std::size_t>>(0)](const ReceivedRequest&) {
            const std::size_t index = (*next)++;
            return index < replies.size() ? replies[index]
                                          : Reply{.status = 500, .body = "no reply is left"};
          },
          unix_socket} {}

LoopbackServer::~LoopbackServer() {
  state_->stop = true;
  state_->acceptor.join();
  for (auto& thread : state_->threads) {
    thread.join();
  }
  ::close(state_->listener);
}

int LoopbackServer::port() const {
  return state_->port;
}

std::string LoopbackServer::url() const {
  return fmt::format("http://127.0.0.1:{}", state_->port);
}

std::vector<ReceivedRequest> LoopbackServer::requests() const {
  const std::scoped_lock lock{state_->mutex};
  return state_->requests;
}

}  // namespace autopack::testing
