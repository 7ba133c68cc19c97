#pragma once

#include "google/service.hpp"
#include "support/fake_http.hpp"
#include "support/recording_reporter.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace autopack::testing {

/// Returns token-1, after expire() token-2, and so on.
class CountingTokens final : public google::TokenSource {
public:
  google::AccessToken token() override {
    return {.token = Secret{"token-" + std::to_string(number_)}};
  }

  void expire() override { ++number_; }

  std::string describe() const override { return "test"; }

  std::optional<std::string> project() const override { return {}; }

  std::optional<std::string> quota_project() const override { return "quota"; }

private:
  int number_{1};
};

/// Google's APIs over a client in memory; counts waits instead of waiting.
class FakeGoogle {
public:
  explicit FakeGoogle(http::Client& client)
      : service{{.credentials = [this]() -> google::TokenSource& { return tokens_; },
                 .client = &client,
                 .sleep =
                     [this](std::chrono::milliseconds time) {
                       slept += time;
                       ++sleeps;
                     }}} {}

  FakeGoogle(const FakeGoogle&) = delete;
  FakeGoogle& operator=(const FakeGoogle&) = delete;
  FakeGoogle(FakeGoogle&&) = delete;
  FakeGoogle& operator=(FakeGoogle&&) = delete;
  ~FakeGoogle() = default;

  RecordingReporter reporter{};
  std::chrono::milliseconds slept{0};
  int sleeps{0};

private:
  CountingTokens tokens_{};

public:
  google::Service service;
};

}  // namespace autopack::testing
