#pragma once

#include "http/client.hpp"

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace autopack::testing {

/// Responds by method and URL, to several threads; records the requests. A missing route fails the
/// test.
class RoutedHttp final : public http::Client {
public:
  /// `route` is `GET https://...`.
  void on(const std::string& route, int status, std::string body) {
    routes_[route] = {.status = status, .body = std::move(body)};
  }

  /// Never responds; ends if `stop` is requested.
  void hang(const std::string& route, const Cancellation& stop) { hanging_[route] = &stop; }

  void break_off(const std::string& route) { broken_[route] = true; }

  http::Response send(const http::Request& request) override {
    const std::string route = request.method + " " + request.url;
    {
      const std::lock_guard lock{mutex_};
      requests.push_back(request);
    }
    if (const auto found = hanging_.find(route); found != hanging_.end()) {
      while (true) {
        found->second->throw_if_requested();
        std::this_thread::yield();
      }
    }
    if (broken_.contains(route)) {
      throw http::TransportError{http::TransportError::Reason::connect, "cannot connect"};
    }
    const auto found = routes_.find(route);
    if (found == routes_.end()) {
      throw std::runtime_error{"no answer for " + route};
    }
    return found->second;
  }

  std::unique_ptr<http::Stream> upgrade(const http::Request&) override {
    throw std::runtime_error{"no upgrade is expected"};
  }

  std::vector<http::Request> requests{};

private:
  std::mutex mutex_;
  std::map<std::string, http::Response> routes_{};
  std::map<std::string, const Cancellation*> hanging_{};
  std::map<std::string, bool> broken_{};
};

}  // namespace autopack::testing
