#include "base/background.hpp"
#include "cli/application.hpp"
#include "cli/signals.hpp"
#include "http/curl_functions.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

namespace {

/// These tasks run while libcurl is opened: requests about the executor image, the key, the
/// dependencies and the user's tag, the starts of two uploads, and two that pack a layer. One of
/// them walks the tree first.
constexpr std::size_t helper_threads = 8;

/// If a descriptor of 0 to 2 were closed, the first opened file would get it, and output would go
/// into that file.
void keep_standard_descriptors() {
  while (true) {
    const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (descriptor > STDERR_FILENO) {
      ::close(descriptor);
    }
    if (descriptor < 0 || descriptor > STDERR_FILENO) {
      return;
    }
  }
}

}  // namespace

int main(int count, char** values) {
  using namespace autopack;
  keep_standard_descriptors();
  // Large buffers go back to the system at once, whichever thread had them.
  ::mallopt(M_MMAP_THRESHOLD, 512 * 1024);
  ::mallopt(M_ARENA_MAX, 4);
  // A thread's heap grows by a page at a time otherwise, and each time stops the other threads.
  ::mallopt(M_TOP_PAD, 1024 * 1024);
  const std::vector<std::string> typed{values + 1, values + count};
  Cancellation cancellation;
  const cli::SignalGuard guard{cancellation};  // before there is any other thread
  std::optional<http::CurlLoading> loading;
  if (cli::asks_servers(typed)) {
    loading.emplace([] { start_helpers(helper_threads); });
  }
  const int status = cli::run_application(typed, {.environment = Environment::of_process(),
                                                  .streams = cli::Streams::of_process(),
                                                  .cancellation = &cancellation,
                                                  .make_client = http::make_client,
                                                  .make_docker = engine::make_docker});
#ifndef __SANITIZE_ADDRESS__  // which looks for leaks on the way that is left out here
  // All is done and written. Ending idle threads and closing libraries takes another millisecond.
  ::_exit(status);
#endif
  return status;
}
