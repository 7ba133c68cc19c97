#pragma once

#include "http/client.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace autopack::testing {

/// A request as the server read it.
struct ReceivedRequest {
  std::string method{};
  std::string target{};  ///< path and query
  std::vector<http::Header> headers{};
  std::string body{};
  int connection{0};  ///< counts connections from 1

  /// Value of the last header of that name (case-insensitive); empty when absent.
  std::string header(std::string_view name) const;
};

/// What the server answers, and how badly it behaves while doing so.
struct Reply {
  int status{200};
  std::vector<http::Header> headers{};
  std::string body{};
  bool chunked{false};
  std::size_t piece{0};                ///< bytes sent at a time, with a pause between; 0 = at once
  std::chrono::milliseconds stall{0};  ///< before the answer
  bool drop{false};                    ///< close without an answer
  /// Close after that many bytes of the body.
  std::optional<std::size_t> drop_after{};
  bool close{false};       ///< close after the answer
  std::string raw{};       ///< sent as it is instead of all this
  bool echo_after{false};  ///< after the answer send back what comes, until it ends
};

/// An HTTP/1.1 server on loopback or on a unix socket, one thread per connection. A request with
/// `X-Early: 1` is answered before its body is read, then the connection is closed.
class LoopbackServer {
public:
  using Handler = std::function<Reply(const ReceivedRequest&)>;

  explicit LoopbackServer(Handler handler, const std::filesystem::path& unix_socket = {});
  /// Answers in order; then 500.
  explicit LoopbackServer(std::vector<Reply> replies,
                          const std::filesystem::path& unix_socket = {});
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  int port() const;
  /// `http://127.0.0.1:PORT`.
  std::string url() const;
  /// All requests so far.
  std::vector<ReceivedRequest> requests() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace autopack::testing
