#pragma once

#include "http/client.hpp"
#include "http/curl_functions.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace autopack::http {

struct EasyDeleter {
  void operator()(CURL* handle) const { curl().easy_cleanup(handle); }
};

struct MultiDeleter {
  void operator()(CURLM* handle) const { curl().multi_cleanup(handle); }
};

struct ListDeleter {
  void operator()(curl_slist* list) const { curl().slist_free_all(list); }
};

struct UrlDeleter {
  void operator()(CURLU* parts) const { curl().url_cleanup(parts); }
};

using Easy = std::unique_ptr<CURL, EasyDeleter>;
using Multi = std::unique_ptr<CURLM, MultiDeleter>;
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;
using UrlParts = std::unique_ptr<CURLU, UrlDeleter>;

/// Makes a handle. Throws like curl().
Easy make_easy();

/// curl_easy_setopt that checks the result.
template <class Value>
void set_option(CURL* handle, CURLoption option, Value value) {
  if (curl().easy_setopt(handle, option, value) != CURLE_OK) {
    throw Error(ErrorKind::internal, "libcurl refuses option " + std::to_string(option));
  }
}

/// Sets address, proxy, timeouts and TLS. `error_text` has CURL_ERROR_SIZE bytes. The result must
/// outlive the transfer.
[[nodiscard]] HeaderList set_connection(CURL* handle,
                                        const Request& request,
                                        const std::string& url,
                                        char* error_text);

/// Returns `METHOD redacted-url`.
std::string describe(const Request& request, const std::string& url);

/// Throws the error for a failed transfer.
[[noreturn]] void throw_failure(
    const Request& request, const std::string& url, CURL* handle, CURLcode code, const char* text);

/// Throws a TransportError with the text of all requests: `could not WHAT`, caused by `METHOD URL:
/// TEXT`.
[[noreturn]] void throw_transport(TransportError::Reason reason,
                                  const Request& request,
                                  const std::string& url,
                                  const std::string& text);

/// Sends one request on one handle, without following redirects.
Response transfer(CURLM* multi,
                  CURL* easy,
                  const Request& request,
                  const std::string& url,
                  const ClientOptions& options);

std::unique_ptr<Stream> open_stream(const Request& request, const ClientOptions& options);

}  // namespace autopack::http
