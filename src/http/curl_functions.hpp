#pragma once

#include <curl/curl.h>

#include <functional>

namespace autopack::http {

/// The functions in use, by their names without `curl_`.
#define AUTOPACK_CURL_FUNCTIONS(X) \
  X(global_init);                  \
  X(free);                         \
  X(slist_append);                 \
  X(slist_free_all);               \
  X(url);                          \
  X(url_set);                      \
  X(url_get);                      \
  X(url_cleanup);                  \
  X(easy_init);                    \
  X(easy_setopt);                  \
  X(easy_getinfo);                 \
  X(easy_perform);                 \
  X(easy_recv);                    \
  X(easy_send);                    \
  X(easy_reset);                   \
  X(easy_strerror);                \
  X(easy_cleanup);                 \
  X(multi_init);                   \
  X(multi_add_handle);             \
  X(multi_perform);                \
  X(multi_poll);                   \
  X(multi_info_read);              \
  X(multi_remove_handle);          \
  X(multi_cleanup)

/// Pointers to the functions, under the same names; see base/library.hpp.
struct CurlFunctions {
// NOLINTBEGIN(bugprone-macro-parentheses): the argument is the name of a member.
#define AUTOPACK_MEMBER(name) \
  decltype(&curl_##name) name {}
  AUTOPACK_CURL_FUNCTIONS(AUTOPACK_MEMBER);
#undef AUTOPACK_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)
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
