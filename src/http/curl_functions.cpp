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
#define AUTOPACK_FIND(name) library.find("curl_" #name, functions.name)
  AUTOPACK_CURL_FUNCTIONS(AUTOPACK_FIND);
#undef AUTOPACK_FIND
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
