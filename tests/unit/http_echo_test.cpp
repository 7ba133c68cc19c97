#include "base/text.hpp"
#include "http/echo.hpp"

#include <doctest/doctest.h>

namespace autopack::http_echo_test {

using namespace autopack::http;

namespace {

std::string told(std::vector<Header> headers, std::string body) {
  const Request request{.headers = std::move(headers)};
  Response response{.status = 403, .body = std::move(body)};
  hide_logins(request, response);
  return response.body;
}

}  // namespace

TEST_CASE("a login that an answer repeats is hidden, whatever its kind") {
  CHECK(told({{"Authorization", "Bearer ya29.secret"}},
             "bad token ya29.secret, Bearer ya29.secret") == "bad token ***, Bearer ***");
  const std::string basic = base64_encode("robot:pass:word\"s");
  CHECK(told({{"authorization", "Basic " + basic}}, basic + " is robot and pass:word\"s") ==
        "*** is robot and ***");
  CHECK(told({{"Authorization", "Basic " + basic}}, R"({"message": "no pass:word\"s"})") ==
        R"({"message": "no ***"})");
  const std::string engine = base64url_encode(R"({"username":"me","password":"hunter22"})");
  CHECK(told({{"X-Registry-Auth", engine}}, "got " + engine + ", hunter22 is wrong") ==
        "got ***, *** is wrong");
  CHECK(told({{"X-Api-Key", "key-of-mine"}}, "no key-of-mine") == "no ***");
}

TEST_CASE("text that is not a login is unchanged") {
  CHECK(told({{"Content-Type", "application/json"}, {"Authorization", "Bearer x"}},
             "application/json, x") == "application/json, x");
  CHECK(told({}, "all") == "all");
}

TEST_CASE("a challenge is hidden too, and a redirect leads where it did") {
  const Request request{.headers = {{"Authorization", "Bearer ya29.secret"}}};
  Response response{.status = 401,
                    .headers = {{"WWW-Authenticate", "Basic realm=\"ya29.secret\""},
                                {"Location", "https://host/ya29.secret"}}};
  hide_logins(request, response);
  CHECK(*response.header("www-authenticate") == "Basic realm=\"***\"");
  CHECK(*response.header("location") == "https://host/ya29.secret");
}

}  // namespace autopack::http_echo_test
