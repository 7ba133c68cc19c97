#include "http/curl_functions.hpp"

#include "base/library.hpp"

#include <future>
#include <system_error>

namespace autopack::http {

namespace {

/// The soname since libcurl 7.16 (2006).
constexpr const char* file_name = "libcurl.so.4";

constexpr const char* remedy =
    "install libcurl: `apt-get install libcurl4t64`, before Debian 13 `libcurl4`";

CurlFunctions open_curl() {
  const Library library{file_name, remedy};
  CurlFunctions functions;
  library.find("curl_global_init", functions.global_init);
  library.find("curl_free", functions.free);
  library.find("curl_slist_append", functions.slist_append);
  library.find("curl_slist_free_all", functions.slist_free_all);
  library.find("curl_url", functions.url);
  library.find("curl_url_set", functions.url_set);
  library.find("curl_url_get", functions.url_get);
  library.find("curl_url_cleanup", functions.url_cleanup);
  library.find("curl_easy_init", functions.easy_init);
  library.find("curl_easy_setopt", functions.easy_setopt);
  library.find("curl_easy_getinfo", functions.easy_getinfo);
  library.find("curl_easy_perform", functions.easy_perform);
  library.find("curl_easy_recv", functions.easy_recv);
  library.find("curl_easy_send", functions.easy_send);
  library.find("curl_easy_reset", functions.easy_reset);
  library.find("curl_easy_strerror", functions.easy_strerror);
  library.find("curl_easy_cleanup", functions.easy_cleanup);
  library.find("curl_multi_init", functions.multi_init);
  library.find("curl_multi_add_handle", functions.multi_add_handle);
  library.find("curl_multi_perform", functions.multi_perform);
  library.find("curl_multi_poll", functions.multi_poll);
  library.find("curl_multi_info_read", functions.multi_info_read);
  library.find("curl_multi_remove_handle", functions.multi_remove_handle);
  library.find("curl_multi_cleanup", functions.multi_cleanup);
  if (functions.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    library.throw_unusable("it cannot be initialised");
  }
  return functions;
}

/// Never closed: threads of libcurl may still run when the process ends.
const std::shared_future<CurlFunctions>& loading(const std::function<void()>& before = {}) {
  static const std::shared_future<CurlFunctions> future = [&] {
    try {
      return std::async(std::launch::async,
                        [before] {
                          if (before) {
                            before();
                          }
                          return open_curl();
                        })
          .share();
    } catch (const std::system_error&) {  // no thread can be started: open it when it is needed
      return std::async(std::launch::deferred, open_curl).share();
    }
  }();
  return future;
}

}  // namespace

CurlLoading::CurlLoading(std::function<void()> before) {
  static_cast<void>(loading(before));
}

CurlLoading::~CurlLoading() {
  loading().wait();
}

const CurlFunctions& curl() {
  return loading().get();
}

}  // namespace autopack::http
