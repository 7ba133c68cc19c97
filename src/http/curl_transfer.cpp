#include "base/broken_pipe.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "http/curl_handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

namespace autopack::http {

namespace {

constexpr std::size_t body_limit = std::size_t{16} << 20U;
/// Limit for the body of a refusal; the rest is not read.
constexpr std::size_t refusal_limit = std::size_t{256} << 10U;
/// Limit for the head of an answer, which stays in memory.
constexpr std::size_t head_limit = std::size_t{256} << 10U;
constexpr int poll_milliseconds = 100;

/// State shared by the callbacks of one request. Exceptions wait in `failure` until libcurl has
/// returned.
struct Exchange {
  const Request& request;
  const Cancellation* cancellation{nullptr};
  Response response{};
  std::exception_ptr failure{};
  std::size_t head{0};  ///< bytes of all heads so far
  bool head_is_whole{false};
  bool too_large{false};
  bool reported_head{false};
  bool cut{false};  ///< the text of the refusal is longer than the limit
};

template <class Action>
bool guarded(Exchange& exchange, Action&& action) noexcept {
  try {
    action();
    return true;
  } catch (...) {
    exchange.failure = std::current_exception();
    return false;
  }
}

std::size_t on_header(const char* text, std::size_t size, std::size_t count, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  const std::size_t length = size * count;
  const bool good = guarded(exchange, [&] {
    const std::string_view line = trim({text, length});
    exchange.head += length;
    if (exchange.head > head_limit) {
      exchange.too_large = true;
      return;
    }
    if (line.starts_with("HTTP/")) {
      // A new status line (after 100 Continue) starts a new answer.
      exchange.response = Response{};
      exchange.head_is_whole = false;
      const auto space = line.find(' ');
      exchange.response.status =
          space == std::string_view::npos ? 0 : std::atoi(std::string{line.substr(space)}.c_str());
    } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
      exchange.response.headers.push_back(
          {std::string{trim(line.substr(0, colon))}, std::string{trim(line.substr(colon + 1))}});
    } else if (line.empty()) {
      exchange.head_is_whole = true;
    }
  });
  return good && !exchange.too_large ? length : 0;
}

std::size_t on_body(const char* bytes, std::size_t size, std::size_t count, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  const std::size_t length = size * count;
  const bool good = guarded(exchange, [&] {
    if (exchange.request.on_data && exchange.response.ok()) {
      if (exchange.request.on_head && !exchange.reported_head) {
        exchange.reported_head = true;
        exchange.request.on_head(exchange.response);
      }
      exchange.request.on_data({bytes, length});
    } else if (!exchange.response.ok()) {
      const std::size_t room = refusal_limit - exchange.response.body.size();
      exchange.response.body.append(bytes, std::min(length, room));
      exchange.cut = length > room;
    } else if (exchange.response.body.size() + length > body_limit) {
      exchange.too_large = true;
    } else {
      exchange.response.body.append(bytes, length);
    }
  });
  return good && !exchange.too_large && !exchange.cut ? length : 0;
}

std::size_t on_read(char* buffer, std::size_t size, std::size_t count, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  std::size_t length = 0;
  const bool good =
      guarded(exchange, [&] { length = exchange.request.read_body(buffer, size * count); });
  return good ? length : CURL_READFUNC_ABORT;
}

int on_progress(void* context,
                curl_off_t /*download_size*/,
                curl_off_t /*downloaded*/,
                curl_off_t /*upload_size*/,
                curl_off_t /*uploaded*/) {
  const auto& exchange = *static_cast<Exchange*>(context);
  return exchange.cancellation != nullptr && exchange.cancellation->requested ? 1 : 0;
}

void append(HeaderList& list, const std::string& line) {
  curl_slist* longer = curl().slist_append(list.get(), line.c_str());
  if (longer == nullptr) {
    throw std::bad_alloc{};
  }
  static_cast<void>(list.release());
  list.reset(longer);
}

HeaderList headers_of(const Request& request) {
  HeaderList list;
  bool content_type = false;
  for (const auto& [name, value] : request.headers) {
    if (name.find_first_of("\r\n:") != std::string::npos ||
        value.find_first_of("\r\n") != std::string::npos) {
      throw Error(ErrorKind::internal, fmt::format("header `{}` holds a line break", name));
    }
    content_type = content_type || to_lower(name) == "content-type";
    append(list, value.empty() ? name + ";" : name + ": " + value);
  }
  if (!content_type) {
    append(list, "Content-Type:");
  }
  if (const auto url = Url::parse(request.url); url && !request.tls.server_name.empty()) {
    append(list, "Host: " + url->origin().substr(url->origin().find("//") + 2));
  }
  // Waiting for 100 Continue costs a round trip, and these servers do not answer it anyway.
  append(list, "Expect:");
  if (!request.compressed) {
    append(list, "Accept-Encoding:");
  }
  return list;
}

void set_body(CURL* easy, const Request& request, HeaderList& headers) {
  if (request.read_body) {
    set_option(easy, CURLOPT_UPLOAD, 1L);
    set_option(easy, CURLOPT_UPLOAD_BUFFERSIZE, 1L << 20U);
    set_option(easy, CURLOPT_READFUNCTION, &on_read);
    if (request.body_size) {
      set_option(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(*request.body_size));
    } else {
      append(headers, "Transfer-Encoding: chunked");
    }
  } else if (request.method == "HEAD") {
    set_option(easy, CURLOPT_NOBODY, 1L);
  } else if (!request.body.empty() || request.method == "POST" || request.method == "PUT" ||
             request.method == "PATCH") {
    set_option(easy, CURLOPT_POST, 1L);
    set_option(easy, CURLOPT_POSTFIELDS, request.body.data());
    set_option(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  if (request.method != "HEAD") {
    set_option(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
}

/// Adds the handle to the multi handle for one transfer.
class Attachment {
public:
  Attachment(CURLM* multi, CURL* easy) : multi_{multi}, easy_{easy} {
    curl().multi_add_handle(multi_, easy_);
  }

  ~Attachment() { curl().multi_remove_handle(multi_, easy_); }

  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

private:
  CURLM* multi_;
  CURL* easy_;
};

CURLcode perform(CURLM* multi,
                 CURL* easy,
                 const Cancellation* cancellation,
                 const std::atomic<bool>* stop) {
  const BrokenPipeGuard guard;
  const Attachment attachment{multi, easy};
  for (int running = 1; running != 0;) {
    if (curl().multi_perform(multi, &running) != CURLM_OK) {
      return CURLE_FAILED_INIT;
    }
    if ((cancellation != nullptr && cancellation->requested) || (stop != nullptr && *stop)) {
      return CURLE_ABORTED_BY_CALLBACK;
    }
    if (running != 0) {
      curl().multi_poll(multi, nullptr, 0, poll_milliseconds, nullptr);
    }
  }
  int left = 0;
  while (const CURLMsg* message = curl().multi_info_read(multi, &left)) {
    if (message->msg == CURLMSG_DONE) {
      return message->data.result;
    }
  }
  return CURLE_FAILED_INIT;
}

}  // namespace

Response transfer(CURLM* multi,
                  CURL* easy,
                  const Request& request,
                  const std::string& url,
                  const ClientOptions& options) {
  Exchange exchange{.request = request, .cancellation = options.cancellation};
  std::array<char, CURL_ERROR_SIZE> text{};
  curl().easy_reset(easy);
  const auto detour = set_connection(easy, request, url, text.data());
  if (!options.user_agent.empty()) {
    set_option(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  }
  if (request.compressed) {
    set_option(easy, CURLOPT_ACCEPT_ENCODING, "");
  }
  if (request.on_data) {
    set_option(easy, CURLOPT_BUFFERSIZE, 1L << 18U);
  }
  set_option(easy, CURLOPT_FRESH_CONNECT, request.new_connection ? 1L : 0L);
  HeaderList headers = headers_of(request);
  set_body(easy, request, headers);
  set_option(easy, CURLOPT_HTTPHEADER, headers.get());
  set_option(easy, CURLOPT_HEADERFUNCTION, &on_header);
  set_option(easy, CURLOPT_HEADERDATA, &exchange);
  set_option(easy, CURLOPT_WRITEFUNCTION, &on_body);
  set_option(easy, CURLOPT_WRITEDATA, &exchange);
  set_option(easy, CURLOPT_READDATA, &exchange);
  set_option(easy, CURLOPT_NOPROGRESS, 0L);
  set_option(easy, CURLOPT_XFERINFOFUNCTION, &on_progress);
  set_option(easy, CURLOPT_XFERINFODATA, &exchange);
  const CURLcode code = perform(multi, easy, options.cancellation, request.stop);
  if (exchange.failure) {
    std::rethrow_exception(exchange.failure);
  }
  if (options.cancellation != nullptr) {
    options.cancellation->throw_if_requested();
  }
  if (request.stop != nullptr && *request.stop) {
    throw_transport(TransportError::Reason::reset, request, url, "the transfer was stopped");
  }
  if (exchange.too_large) {
    const bool head = exchange.head > head_limit;
    throw_transport(TransportError::Reason::protocol, request, url,
                    fmt::format("the answer{} is larger than {}", head ? "'s head" : "",
                                human_size(head ? head_limit : body_limit)));
  }
  // A server that refuses a body may close the connection before reading all of it; its answer is
  // what matters.
  const bool refused =
      (exchange.response.status >= 400 && code == CURLE_SEND_ERROR) || exchange.cut;
  if (code != CURLE_OK && !refused) {
    throw_failure(request, url, easy, code, text.data());
  }
  // libcurl accepts an answer that ends within its headers.
  if (!exchange.head_is_whole) {
    throw_transport(TransportError::Reason::reset, request, url,
                    "the connection closed within the headers of the answer");
  }
  return std::move(exchange.response);
}

}  // namespace autopack::http
