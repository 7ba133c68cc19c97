#include "engine/local_socket.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/started_process.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>

namespace autopack::engine {

bool accepts_connection(const std::filesystem::path& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path) {
    return false;
  }
  text.copy(address.sun_path, text.size());
  const FileDescriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  // EAGAIN: the queue of a server is full.
  return socket && (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address),
                              sizeof address) == 0 ||
                    errno == EAGAIN);
}

void start_podman(const std::filesystem::path& path) {
  std::error_code ignored;  // podman reports a missing directory
  std::filesystem::create_directories(path.parent_path(), ignored);
  StartedProcess service{
      {"podman", "system", "service", "--time=60", "unix://" + path.string()}, -1, true};
  constexpr int most_looks{600};
  constexpr std::chrono::milliseconds between_looks{50};
  for (int i = 0; i < most_looks; ++i) {
    if (accepts_connection(path)) {
      return;
    }
    if (const auto status = service.status()) {
      throw Error(ErrorKind::environment, "cannot start Podman's service")
          .cause(fmt::format("`podman system service` ended with status {}", *status))
          .cause(service.last_errors())
          .hint(fmt::format("podman system service --time=0 unix://{} &", path.string()));
    }
    std::this_thread::sleep_for(between_looks);
  }
  throw Error(ErrorKind::environment, "cannot start Podman's service")
      .cause("`podman system service` does not listen after 30 s")
      .hint("podman info");
}

}  // namespace autopack::engine
