#include "support/cutting_proxy.hpp"

#include "support/loopback_address.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace autopack::testing {

namespace {

/// The bytes of one direction, and the places where it breaks.
struct Direction {
  std::mutex mutex{};
  std::uint64_t passed{0};
  std::vector<std::uint64_t> cuts{};

  /// Returns how many of `size` bytes may pass; sets `cut` if the connection breaks after them.
  std::size_t allow(std::size_t size, bool& cut) {
    const std::scoped_lock lock{mutex};
    if (!cuts.empty() && passed + size >= cuts.front()) {
      size = static_cast<std::size_t>(cuts.front() - passed);
      cuts.erase(cuts.begin());
      cut = true;
    }
    passed += size;
    return size;
  }
};

bool send_all(int descriptor, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::send(descriptor, bytes, size, MSG_NOSIGNAL);
    if (count <= 0) {
      return false;
    }
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

/// Returns false at the end of the connection.
bool pump(int from, int to, Direction& direction) {
  std::array<char, 16384> bytes{};
  const ssize_t count = ::recv(from, bytes.data(), bytes.size(), 0);
  if (count <= 0) {
    return false;
  }
  bool cut = false;
  const std::size_t allowed = direction.allow(static_cast<std::size_t>(count), cut);
  return send_all(to, bytes.data(), allowed) && !cut;
}

}  // namespace

struct CuttingProxy::State {
  int target{0};
  int listener{-1};
  int port{0};
  Direction forward{};
  Direction backward{};
  std::atomic<bool> stop{false};
  std::list<std::thread> threads{};
  std::thread acceptor{};

  void accept_all() {
    while (!stop) {
      pollfd entry{listener, POLLIN, 0};
      if (::poll(&entry, 1, 5) == 1) {
        const int client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        threads.emplace_back([this, client] { pass(client); });
      }
    }
  }

  void pass(int client) {
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(target);
    bool open = ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    while (open && !stop) {
      std::array<pollfd, 2> entries{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
      if (::poll(entries.data(), entries.size(), 5) <= 0) {
        continue;
      }
      if (entries[0].revents != 0) {
        open = pump(client, server, forward);
      }
      if (open && entries[1].revents != 0) {
        open = pump(server, client, backward);
      }
    }
    ::close(server);
    ::close(client);
  }
};

CuttingProxy::CuttingProxy(int target,
                           std::vector<std::uint64_t> cuts,
                           std::vector<std::uint64_t> back_cuts)
    : state_{std::make_unique<State>()} {
  state_->target = target;
  state_->forward.cuts = std::move(cuts);
  state_->backward.cuts = std::move(back_cuts);
  state_->listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(state_->listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(state_->listener, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      ::listen(state_->listener, 16) != 0) {
    throw std::runtime_error{"the proxy cannot listen"};
  }
  state_->port = ntohs(address.sin_port);
  state_->acceptor = std::thread{[this] { state_->accept_all(); }};
}

CuttingProxy::~CuttingProxy() {
  state_->stop = true;
  state_->acceptor.join();
  for (auto& thread : state_->threads) {
    thread.join();
  }
  ::close(state_->listener);
}

int CuttingProxy::port() const {
  return state_->port;
}

std::uint64_t CuttingProxy::forward() const {
  const std::scoped_lock lock{state_->forward.mutex};
  return state_->forward.passed;
}

std::uint64_t CuttingProxy::backward() const {
  const std::scoped_lock lock{state_->backward.mutex};
  return state_->backward.passed;
}

}  // namespace autopack::testing
