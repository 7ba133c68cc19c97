#include "http/curl_handle.hpp"

#include "base/url.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace autopack::http {

namespace {

/// A child process must not keep a connection open.
int close_on_exec(void* /*context*/, curl_socket_t descriptor, curlsocktype /*purpose*/) {
  return ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR;
}

/// Where distributions keep the certificates of public authorities.
constexpr std::array certificate_files{
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Red Hat
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/etc/ssl/cert.pem",                                  // Arch
};

/// Returns the certificates to use instead of `built_in`, the file of the distribution that built
/// libcurl: a wheel brings that libcurl to others. Null if `built_in` exists, or nothing does.
const char* other_certificates(const char* built_in) {
  const auto exists = [](const char* file) { return ::access(file, R_OK) == 0; };
  if (built_in != nullptr && exists(built_in)) {
    return nullptr;
  }
  const auto* const found = std::ranges::find_if(certificate_files, exists);
  return found == certificate_files.end() ? nullptr : *found;
}

/// Returns the file of certificates that the user names; empty if libcurl's own is to be used.
/// libcurl ignores SSL_CERT_FILE; only its command reads it.
std::string named_certificates(const Tls& tls) {
  const char* environment = std::getenv("SSL_CERT_FILE");
  return tls.ca_file.empty() && environment != nullptr ? environment : tls.ca_file.string();
}

void set_blob(CURL* handle, CURLoption option, const std::string& text) {
  if (!text.empty()) {
    std::string copied = text;
    curl_blob blob{.data = copied.data(), .len = copied.size(), .flags = CURL_BLOB_COPY};
    set_option(handle, option, &blob);
  }
}

void set_tls(CURL* handle, const Tls& tls) {
  set_blob(handle, CURLOPT_CAINFO_BLOB, tls.ca);
  set_blob(handle, CURLOPT_SSLCERT_BLOB, tls.certificate);
  set_blob(handle, CURLOPT_SSLKEY_BLOB, tls.key.reveal());
  if (!tls.ca.empty()) {
    // Only these.
  } else if (const auto named = named_certificates(tls); !named.empty()) {
    set_option(handle, CURLOPT_CAINFO, named.c_str());
  } else {
    const char* built_in = nullptr;
    curl().easy_getinfo(handle, CURLINFO_CAINFO, &built_in);
    if (const char* other = other_certificates(built_in)) {
      set_option(handle, CURLOPT_CAINFO, other);
    }
  }
  if (!tls.certificate_file.empty()) {
    set_option(handle, CURLOPT_SSLCERT, tls.certificate_file.c_str());
  }
  if (!tls.key_file.empty()) {
    set_option(handle, CURLOPT_SSLKEY, tls.key_file.c_str());
  }
  set_option(handle, CURLOPT_SSL_VERIFYPEER, tls.verify ? 1L : 0L);
  set_option(handle, CURLOPT_SSL_VERIFYHOST, tls.verify ? 2L : 0L);
}

TransportError::Reason reason_of(CURLcode code, std::string_view text) {
  using Reason = TransportError::Reason;
  // With TLS 1.3 the server checks the client's certificate after the handshake: libcurl reads the
  // refusal as data and has no code for it.
  if (text.find("SSL routines") != std::string_view::npos &&
      text.find("alert") != std::string_view::npos) {
    return Reason::tls;
  }
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY: return Reason::resolve;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY: return Reason::connect;
    case CURLE_OPERATION_TIMEDOUT: return Reason::timeout;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_FAIL_REWIND: return Reason::reset;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION: return Reason::tls;
    default: return Reason::protocol;
  }
}

/// Loopback, and a cloud's metadata server, whose answer describes the machine that asks: through a
/// proxy, it would describe the proxy.
bool is_of_this_machine(const Url& url) {
  return url.is_loopback() || url.host == "169.254.169.254" ||
         url.host == "metadata.google.internal";
}

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

/// libcurl checks the name in the URL: the URL gets `name`, and the connection goes to its host.
HeaderList set_server_name(CURL* handle, const Url& url, const std::string& name) {
  const int port = url.port.value_or(url.scheme == "http" ? 80 : 443);
  const auto query = url.query.empty() ? "" : "?" + url.query;
  const auto address =
      fmt::format("{}://{}:{}{}{}", url.scheme, bracketed(name), port, url.path, query);
  set_option(handle, CURLOPT_URL, address.c_str());
  const auto detour = fmt::format("{}:{}:{}:{}", bracketed(name), port, bracketed(url.host), port);
  HeaderList list{curl().slist_append(nullptr, detour.c_str())};
  if (!list) {
    throw std::bad_alloc{};
  }
  set_option(handle, CURLOPT_CONNECT_TO, list.get());
  return list;
}

}  // namespace

Easy make_easy() {
  Easy handle{curl().easy_init()};
  if (!handle) {
    throw Error(ErrorKind::internal, "libcurl cannot be initialised");
  }
  return handle;
}

HeaderList set_connection(CURL* handle,
                          const Request& request,
                          const std::string& url,
                          char* error_text) {
  set_option(handle, CURLOPT_ERRORBUFFER, error_text);
  set_option(handle, CURLOPT_NOSIGNAL, 1L);
  set_option(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set_option(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set_option(handle, CURLOPT_SOCKOPTFUNCTION, &close_on_exec);
  set_option(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  set_option(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  const auto parsed = Url::parse(url);
  HeaderList detour;
  set_option(handle, CURLOPT_URL, url.c_str());
  if (parsed && !request.tls.server_name.empty()) {
    detour = set_server_name(handle, *parsed, request.tls.server_name);
  }
  if (!request.unix_socket.empty()) {
    set_option(handle, CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
  }
  const bool is_local = !request.unix_socket.empty() || (parsed && is_of_this_machine(*parsed));
  if (is_local && (request.proxy.empty() || !request.proxy_for_loopback)) {
    set_option(handle, CURLOPT_PROXY, "");
  } else if (!request.proxy.empty()) {
    set_option(handle, CURLOPT_PROXY, request.proxy.reveal().c_str());
  }
  set_option(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
  set_option(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  if (request.stall_timeout.count() > 0) {
    set_option(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    set_option(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.stall_timeout.count()));
  }
  set_tls(handle, request.tls);
  return detour;
}

std::string describe(const Request& request, const std::string& url) {
  return request.method + " " + redact_url(url);
}

void throw_transport(TransportError::Reason reason,
                     const Request& request,
                     const std::string& url,
                     const std::string& text) {
  const std::string cause = describe(request, url) + ": " + text;
  if (request.what.empty()) {
    throw TransportError{reason, cause};
  }
  TransportError error{reason, "could not " + request.what};
  error.cause(cause);
  throw error;
}

void throw_failure(
    const Request& request, const std::string& url, CURL* handle, CURLcode code, const char* text) {
  long number = 0;
  curl().easy_getinfo(handle, CURLINFO_OS_ERRNO, &number);
  if (!request.unix_socket.empty() && code == CURLE_COULDNT_CONNECT) {
    const auto reason = number != 0 ? std::strerror(static_cast<int>(number)) : text;
    TransportError error{TransportError::Reason::socket,
                         fmt::format("cannot connect to `{}`", request.unix_socket.string())};
    error.cause(reason);
    throw error;
  }
  std::string reason = redact_credentials(*text != '\0' ? text : curl().easy_strerror(code));
  if (!reason.empty() && reason.front() >= 'A' && reason.front() <= 'Z' &&
      !(reason.size() > 1 && reason[1] >= 'A' && reason[1] <= 'Z')) {
    reason.front() = static_cast<char>(reason.front() - 'A' + 'a');
  }
  if (code == CURLE_SSL_CACERT_BADFILE && named_certificates(request.tls).empty()) {
    reason += "; install the package `ca-certificates`";
  }
  throw_transport(reason_of(code, text), request, url, reason);
}

}  // namespace autopack::http
