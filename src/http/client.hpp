#pragma once

#include "base/report.hpp"
#include "base/secret.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::http {

struct Header {
  std::string name{};
  std::string value{};
};

/// Certificates that replace the system's.
struct Tls {
  std::filesystem::path ca_file{};
  bool ca_for_redirects{false};  ///< `ca_file` applies to other hosts, too
  std::filesystem::path certificate_file{};
  std::filesystem::path key_file{};
  /// The same as texts in PEM, instead of files.
  std::string ca{};
  std::string certificate{};
  Secret key{};
  /// The name that the server's certificate must have; empty: the host of the URL.
  std::string server_name{};
  bool verify{true};
};

struct Response;

struct Request {
  /// Text for error messages: "ask the Docker Engine for its version".
  std::string what{};
  std::string method{"GET"};
  std::string url{};
  /// Connects to this socket instead of the URL's host.
  std::filesystem::path unix_socket{};
  std::vector<Header> headers{};
  std::string body{};
  /// Streams the body instead of `body`: fills the buffer and returns the number of bytes, 0 at the
  /// end. May throw; send() passes the exception on.
  std::function<std::size_t(char* buffer, std::size_t size)> read_body{};
  /// Size of a streamed body in bytes; without it, the transfer is chunked.
  std::optional<std::uint64_t> body_size{};
  /// Receives the answer's body in pieces, instead of Response::body. Called only for status 2xx;
  /// other bodies go to Response::body. May throw; send() passes the exception on.
  std::function<void(std::string_view bytes)> on_data{};
  /// Called with status and headers before the first call of on_data. May throw.
  std::function<void(const Response& head)> on_head{};
  std::chrono::milliseconds connect_timeout{10'000};
  /// For the whole request; 0 means no limit.
  std::chrono::milliseconds timeout{60'000};
  /// Longest time without a byte in either direction; 0 means no limit.
  std::chrono::seconds stall_timeout{0};
  Tls tls{};
  /// Replaces the environment's proxy; the URL may contain a login.
  Secret proxy{};
  /// Uses `proxy` for addresses of this machine, too.
  bool proxy_for_loopback{false};
  /// Ends the transfer with a TransportError as soon as it is true. May be null.
  const std::atomic<bool>* stop{nullptr};
  /// Allows the server to compress the answer; callbacks and body get it decompressed.
  bool compressed{false};
  /// Uses a new connection, for requests that must not be sent twice: on a kept connection that the
  /// server has just closed, the request is sent again.
  bool new_connection{false};
  /// Limit of redirects for GET and HEAD; with 0 the 3xx answer is returned. `Authorization`,
  /// `Cookie` and `tls` (but see ca_for_redirects) are never used for another host, and https never
  /// becomes http.
  int max_redirects{0};
};

struct Response {
  int status{0};
  std::string url{};  ///< of the final answer, after all redirects
  std::vector<Header> headers{};
  /// At most 16 MiB; a larger body throws Error(remote).
  std::string body{};

  /// Returns the value of the last header with that name (case-insensitive), or nothing if it is
  /// absent.
  std::optional<std::string> header(std::string_view name) const;

  bool ok() const { return status >= 200 && status < 300; }
};

/// No answer arrived. The reason decides whether a retry can help.
class TransportError : public Error {
public:
  enum class Reason {
    resolve,   ///< the host's name has no address
    connect,   ///< refused, unreachable, or no answer in time
    socket,    ///< a socket of this machine accepts no connection: ErrorKind::environment
    tls,       ///< certificate or handshake
    timeout,   ///< the request, or one of its bytes, took too long
    reset,     ///< the connection broke while in use
    protocol,  ///< the answer is not HTTP, is too large, or has too many redirects
  };

  TransportError(Reason reason, std::string message)
      : Error{reason == Reason::socket ? ErrorKind::environment : ErrorKind::remote,
              std::move(message)},
        reason_{reason} {}

  Reason reason() const { return reason_; }

private:
  Reason reason_;
};

/// A raw connection after `101 Switching Protocols` (or 200 from older engines).
class Stream {
public:
  virtual ~Stream() = default;
  /// Returns the file descriptor for poll().
  virtual int descriptor() const = 0;
  /// Reads up to `size` bytes; returns 0 at the end of the stream. Blocks. If the buffer has 16 KiB
  /// or more, no bytes stay in a buffer where poll() would not see them.
  virtual std::size_t read(char* buffer, std::size_t size) = 0;
  virtual void write(std::string_view bytes) = 0;
  /// Ends the writing side; reading continues.
  virtual void close_write() = 0;
};

/// Keeps connections and reuses them. Thread-safe; callbacks of its own requests may use it, too.
class Client {
public:
  virtual ~Client() = default;
  /// Returns the answer, whatever its status. Answers other than 2xx never repeat a login of the
  /// request. Throws TransportError if no answer arrives, Error(environment) for a unix socket that
  /// is missing or not permitted, Interrupted. Messages contain only the redacted URL.
  virtual Response send(const Request& request) = 0;
  /// Sends the request with `Connection: Upgrade`, and returns the connection. Throws like send(),
  /// and Error(remote) with status and text if the server refuses.
  virtual std::unique_ptr<Stream> upgrade(const Request& request) = 0;
};

struct ClientOptions {
  std::string user_agent{};
  /// Gets each request with -v: method, redacted URL, status, milliseconds; called from the sending
  /// thread. May be null.
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
};

/// Returns a client that uses libcurl. It follows HTTPS_PROXY, HTTP_PROXY, NO_PROXY and
/// SSL_CERT_FILE.
std::unique_ptr<Client> make_client(ClientOptions options);

}  // namespace autopack::http
