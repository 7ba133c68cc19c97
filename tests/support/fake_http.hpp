#pragma once

#include "http/client.hpp"

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace autopack::testing {

/// Returns responses from a list, or breaks as configured; records the requests. A missing response
/// fails the test.
class FakeHttp final : public http::Client {
public:
  using Answer = std::variant<http::Response, http::TransportError::Reason>;

  explicit FakeHttp(std::vector<Answer> answers) : answers_{std::move(answers)} {}

  http::Response send(const http::Request& request) override {
    requests.push_back(request);
    if (requests.size() > answers_.size()) {
      throw std::runtime_error{"no answer for " + request.method + " " + request.url};
    }
    const auto& answer = answers_[requests.size() - 1];
    if (const auto* const reason = std::get_if<http::TransportError::Reason>(&answer)) {
      throw http::TransportError{*reason, "the connection broke"};
    }
    return std::get<http::Response>(answer);
  }

  std::unique_ptr<http::Stream> upgrade(const http::Request&) override {
    throw std::runtime_error{"no upgrade is expected"};
  }

  std::vector<http::Request> requests{};

private:
  std::vector<Answer> answers_;
};

inline http::Response answer(int status, std::string body) {
  return {.status = status, .body = std::move(body)};
}

}  // namespace autopack::testing
