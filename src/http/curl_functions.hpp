#pragma once

#include <curl/curl.h>

#include <functional>

namespace autopack::http {

/// The libcurl functions in use, by their names without `curl_`; see base/library.hpp.
struct CurlFunctions {
  decltype(&curl_global_init) global_init{};
  decltype(&curl_free) free{};
  decltype(&curl_slist_append) slist_append{};
  decltype(&curl_slist_free_all) slist_free_all{};
  decltype(&curl_url) url{};
  decltype(&curl_url_set) url_set{};
  decltype(&curl_url_get) url_get{};
  decltype(&curl_url_cleanup) url_cleanup{};
  decltype(&curl_easy_init) easy_init{};
  decltype(&curl_easy_setopt) easy_setopt{};
  decltype(&curl_easy_getinfo) easy_getinfo{};
  decltype(&curl_easy_perform) easy_perform{};
  decltype(&curl_easy_recv) easy_recv{};
  decltype(&curl_easy_send) easy_send{};
  decltype(&curl_easy_reset) easy_reset{};
  decltype(&curl_easy_strerror) easy_strerror{};
  decltype(&curl_easy_cleanup) easy_cleanup{};
  decltype(&curl_multi_init) multi_init{};
  decltype(&curl_multi_add_handle) multi_add_handle{};
  decltype(&curl_multi_perform) multi_perform{};
  decltype(&curl_multi_poll) multi_poll{};
  decltype(&curl_multi_info_read) multi_info_read{};
  decltype(&curl_multi_remove_handle) multi_remove_handle{};
  decltype(&curl_multi_cleanup) multi_cleanup{};
};

/// Opens libcurl once, in a thread of its own; curl() waits for it. That thread runs `before`
/// first, because no other thread can start while a library is being opened. The destructor waits
/// too, so that nothing is half initialised when the process ends.
class CurlLoading {
public:
  explicit CurlLoading(std::function<void()> before = {});
  ~CurlLoading();
  CurlLoading(const CurlLoading&) = delete;
  CurlLoading& operator=(const CurlLoading&) = delete;
};

/// Opens and initialises libcurl on the first call. Throws Error(environment) if it is not
/// installed or too old.
const CurlFunctions& curl();

}  // namespace autopack::http
