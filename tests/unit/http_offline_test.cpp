#include "base/text.hpp"
#include "http/offline_client.hpp"
#include "support/routed_http.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace autopack::testing::http_offline_test {

TEST_CASE("an offline client sends requests only to sockets of this machine") {
  const auto local = std::make_shared<RoutedHttp>();
  local->on("GET http://docker/version", 200, "{}");
  const auto client = http::make_offline_client(local);
  CHECK(client->send({.what = "ask", .url = "http://docker/version", .unix_socket = "/s"}).status ==
        200);
  CHECK(local->requests.size() == 1);
  try {
    client->send({.what = "ask the index", .url = "https://me:word@index.example/simple/"});
    FAIL("it was sent");
  } catch (const http::TransportError& error) {
    CHECK(error.message() == "could not ask the index");
    CHECK(join(error.causes(), "").find("`--offline` sends no request") == 0);
    CHECK(join(error.causes(), "").find("word") == std::string::npos);
  }
  CHECK_THROWS_AS(client->upgrade({.what = "attach", .url = "https://index.example/"}),
                  http::TransportError);
  CHECK(local->requests.size() == 1);
}

}  // namespace autopack::testing::http_offline_test
