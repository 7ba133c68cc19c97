#pragma once

#include "base/text.hpp"
#include "http/client.hpp"
#include "scratch.hpp"

#include <charconv>
#include <string>
#include <string_view>

namespace autopack::fuzz {

/// A server that answers what the input says: `STATUS`, lines of headers, an empty line and a body,
/// then a byte 0 and the next answer. Behind the last one the connection breaks.
class ScriptedHttp final : public http::Client {
public:
  explicit ScriptedHttp(std::string_view script) : rest_{script} {}

  http::Response send(const http::Request& request) override {
    ++requests_;
    std::string buffer(4096, '\0');
    for (std::size_t count = 1; request.read_body && count > 0;) {
      count = request.read_body(buffer.data(), buffer.size());
    }
    http::Response response = next();
    if (response.status == 0) {
      throw http::TransportError{http::TransportError::Reason::reset, "the connection broke"};
    }
    if (response.ok() && request.on_head) {
      request.on_head(response);
    }
    if (response.ok() && request.on_data) {
      request.on_data(response.body);
      response.body.clear();
    }
    return response;
  }

  std::unique_ptr<http::Stream> upgrade(const http::Request& /*request*/) override {
    throw http::TransportError{http::TransportError::Reason::protocol, "no upgrade"};
  }

  int requests() const { return requests_; }

private:
  http::Response next() {
    std::string_view answer = next_part(rest_);
    const auto next_line = [&answer] {
      const auto end = std::min(answer.find('\n'), answer.size());
      const auto line = answer.substr(0, end);
      answer.remove_prefix(std::min(end + 1, answer.size()));
      return line;
    };
    http::Response response;
    const auto first = next_line();
    std::from_chars(first.data(), first.data() + first.size(), response.status);
    for (auto line = next_line(); !line.empty(); line = next_line()) {
      const auto colon = std::min(line.find(':'), line.size());
      response.headers.push_back(
          {std::string{line.substr(0, colon)},
           std::string{trim(line.substr(std::min(colon + 1, line.size())))}});
    }
    response.body = std::string{answer};
    return response;
  }

  std::string_view rest_;
  int requests_{0};
};

}  // namespace autopack::fuzz
