#include "http/curl_functions.hpp"

#include "base/error.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <future>

namespace autopack::http {

namespace {

/// The name that libcurl has had since 7.16 (2006).
constexpr const char* file_name = "libcurl.so.4";

[[noreturn]] void throw_unusable(const std::string& cause) {
  throw Error(ErrorKind::environment, fmt::format("the library `{}` cannot be used", file_name))
      .cause(cause)
      .hint("install libcurl: `apt-get install libcurl4t64`, before Debian 13 `libcurl4`");
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) {
    throw_unusable(fmt::format("it has no `{}`", name));
  }
}

CurlFunctions open_curl() {
  void* library = ::dlopen(file_name, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    throw_unusable(reason != nullptr ? reason : "it is not found");
  }
  CurlFunctions functions;
  find(library, "curl_global_init", functions.global_init);
  find(library, "curl_free", functions.free);
  find(library, "curl_slist_append", functions.slist_append);
  find(library, "curl_slist_free_all", functions.slist_free_all);
  find(library, "curl_url", functions.url);
  find(library, "curl_url_set", functions.url_set);
  find(library, "curl_url_get", functions.url_get);
  find(library, "curl_url_cleanup", functions.url_cleanup);
  find(library, "curl_easy_init", functions.easy_init);
  find(library, "curl_easy_setopt", functions.easy_setopt);
  find(library, "curl_easy_getinfo", functions.easy_getinfo);
  find(library, "curl_easy_perform", functions.easy_perform);
  find(library, "curl_easy_recv", functions.easy_recv);
  find(library, "curl_easy_send", functions.easy_send);
  find(library, "curl_easy_reset", functions.easy_reset);
  find(library, "curl_easy_strerror", functions.easy_strerror);
  find(library, "curl_easy_cleanup", functions.easy_cleanup);
  find(library, "curl_multi_init", functions.multi_init);
  find(library, "curl_multi_add_handle", functions.multi_add_handle);
  find(library, "curl_multi_perform", functions.multi_perform);
  find(library, "curl_multi_poll", functions.multi_poll);
  find(library, "curl_multi_info_read", functions.multi_info_read);
  find(library, "curl_multi_remove_handle", functions.multi_remove_handle);
  find(library, "curl_multi_cleanup", functions.multi_cleanup);
  if (functions.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    throw_unusable("it cannot be initialised");
  }
  return functions;
}

/// Never closed: threads that libcurl started may still run at the process's end.
const std::shared_future<CurlFunctions>& loading() {
  static const std::shared_future<CurlFunctions> future =
      std::async(std::launch::async, open_curl).share();
  return future;
}

}  // namespace

CurlLoading::CurlLoading() {
  static_cast<void>(loading());
}

CurlLoading::~CurlLoading() {
  loading().wait();
}

const CurlFunctions& curl() {
  return loading().get();
}

}  // namespace autopack::http
