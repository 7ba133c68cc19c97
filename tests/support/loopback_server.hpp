#pragma once

#include "http/client.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace autopack::testing {

/// A request as received.
struct ReceivedRequest {
  std::string method{};
  std::string target{};  ///< path and query
  std::vector<http::Header> headers{};
  std::string body{};
  int connection{0};  ///< counts connections from 1

  /// Returns the value of the last header of that name (case-insensitive); empty if absent.
  std::string header(std::string_view name) const;
};

/// The response of the server, and its misbehaviour.
struct Reply {
  int status{200};
  std::vector<http::Header> headers{};
  std::string body{};
  bool chunked{false};
  std::size_t piece{0};  ///< bytes sent at a time, with a pause between; 0 = all at once
  std::chrono::milliseconds stall{0};  ///< before the response
  bool drop{false};                    ///< close without a response
  /// Close after that many bytes of the body.
  std::optional<std::size_t> drop_after{};
  bool close{false};       ///< close after the response
  std::string raw{};       ///< sent unchanged instead of everything else
  bool echo_after{false};  ///< after the response, send back everything received
};

/// An HTTP/1.1 server on loopback or on a unix socket, one thread per connection. It responds to a
/// request with `X-Early: 1` before reading its body, then closes the connection.
class LoopbackServer {
public:
  using Handler = std::function<Reply(const ReceivedRequest&)>;

  explicit LoopbackServer(Handler handler, const std::filesystem::path& unix_socket = {});
  /// Returns the replies in order, then 500.
  explicit LoopbackServer(std::vector<Reply> replies,
                          const std::filesystem::path& unix_socket = {});
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  int port() const;
  /// Returns `http://127.0.0.1:PORT`.
  std::string url() const;
  /// Returns all requests so far.
  std::vector<ReceivedRequest> requests() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace autopack::testing
