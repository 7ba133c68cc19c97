#pragma once

#include "base/report.hpp"
#include "base/secret.hpp"

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

/// Certificates other than the system's.
struct Tls {
  std::filesystem::path ca_file{};
  bool ca_for_redirects{false};  ///< `ca_file` stands for other hosts, too
  std::filesystem::path certificate_file{};
  std::filesystem::path key_file{};
  bool verify{true};
};

struct Response;

struct Request {
  /// Words for the error message: "ask the Docker Engine for its version".
  std::string what{};
  std::string method{"GET"};
  std::string url{};
  /// Connect to this socket instead of the URL's host.
  std::filesystem::path unix_socket{};
  std::vector<Header> headers{};
  std::string body{};
  /// Streams the body instead of `body`: fills the buffer, returns the bytes written, 0 at the end.
  /// May throw; the exception leaves send().
  std::function<std::size_t(char* buffer, std::size_t size)> read_body{};
  /// Size of a streamed body in bytes; chunked transfer when absent.
  std::optional<std::uint64_t> body_size{};
  /// Takes the answer's body as it comes instead of Response::body. Only for status 2xx; the body
  /// of any other status is gathered. May throw; the exception leaves send().
  std::function<void(std::string_view bytes)> on_data{};
  /// Told status and headers before the first call of on_data. May throw.
  std::function<void(const Response& head)> on_head{};
  std::chrono::milliseconds connect_timeout{10'000};
  /// Whole request; 0 = no limit.
  std::chrono::milliseconds timeout{60'000};
  /// Longest time without a byte in either direction; 0 = no limit.
  std::chrono::seconds stall_timeout{0};
  Tls tls{};
  /// Instead of the environment's; its URL may hold a login.
  Secret proxy{};
  /// The server may compress the answer; callbacks and body see it unpacked.
  bool compressed{false};
  /// For what must not happen twice: a request on a kept connection that the server has just closed
  /// is sent again.
  bool new_connection{false};
  /// Redirects followed by GET and HEAD; with 0 the 3xx answer is returned. `Authorization`,
  /// `Cookie` and `tls` (but see ca_for_redirects) never follow to another host, and https never
  /// becomes http.
  int max_redirects{0};
};

struct Response {
  int status{0};
  std::string url{};  ///< the one that answered, behind all redirects
  std::vector<Header> headers{};
  /// At most 16 MiB; more throws Error(remote).
  std::string body{};

  /// Value of the last header of that name (case-insensitive); none when absent.
  std::optional<std::string> header(std::string_view name) const;

  bool ok() const { return status >= 200 && status < 300; }
};

/// No answer came. What is worth trying again depends on why.
class TransportError : public Error {
public:
  enum class Reason {
    resolve,   ///< the host's name has no address
    connect,   ///< refused, unreachable, or no answer in time
    socket,    ///< a socket of this machine takes no connection: ErrorKind::environment
    tls,       ///< certificate or handshake
    timeout,   ///< the request or a byte of it took too long
    reset,     ///< the connection broke while in use
    protocol,  ///< the answer is not HTTP, is too large, or redirects without end
  };

  TransportError(Reason reason, std::string message)
      : Error{reason == Reason::socket ? ErrorKind::environment : ErrorKind::remote,
              std::move(message)},
        reason_{reason} {}

  Reason reason() const { return reason_; }

private:
  Reason reason_;
};

/// A connection taken over after `101 Switching Protocols` (or 200 from older engines): raw bytes.
class Stream {
public:
  virtual ~Stream() = default;
  /// File descriptor to poll on.
  virtual int descriptor() const = 0;
  /// Up to `size` bytes; 0 at the end of the stream. Blocks. With a buffer of 16 KiB or more
  /// nothing stays behind that poll would not show.
  virtual std::size_t read(char* buffer, std::size_t size) = 0;
  virtual void write(std::string_view bytes) = 0;
  /// No more bytes will be written; reading goes on.
  virtual void close_write() = 0;
};

/// Keeps connections and uses them again. Safe to use from several threads, and from within the
/// callbacks of its own requests.
class Client {
public:
  virtual ~Client() = default;
  /// The answer, whatever its status; one that is not 2xx repeats no login of the request. Throws
  /// TransportError when none came, Error(environment) for a unix socket that is missing or not
  /// permitted, Error(interrupted). Messages hold the redacted URL only.
  virtual Response send(const Request& request) = 0;
  /// Sends the request with `Connection: Upgrade`, and hands over the connection. Throws as send
  /// does, and Error(remote) with status and text when the server refuses.
  virtual std::unique_ptr<Stream> upgrade(const Request& request) = 0;
};

struct ClientOptions {
  std::string user_agent{};
  /// Told each request with -v: method, redacted URL, status, milliseconds; from the thread that
  /// sends. May be null.
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
};

/// On libcurl. Honours HTTPS_PROXY, HTTP_PROXY, NO_PROXY and SSL_CERT_FILE.
std::unique_ptr<Client> make_client(ClientOptions options);

}  // namespace autopack::http
