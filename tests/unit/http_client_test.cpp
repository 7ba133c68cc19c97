#include "base/text.hpp"
#include "http/client.hpp"
#include "support/loopback_server.hpp"
#include "support/recording_reporter.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace autopack::http_client_test {

using namespace autopack::http;
using namespace std::chrono_literals;
using autopack::testing::LoopbackServer;
using autopack::testing::ReceivedRequest;
using autopack::testing::RecordingReporter;
using autopack::testing::Reply;

namespace {

std::filesystem::path socket_path() {
  auto path = std::filesystem::temp_directory_path() / fmt::format("autopack-{}.sock", ::getpid());
  std::filesystem::remove(path);
  return path;
}

template <class Action>
TransportError::Reason reason_of(Action&& action) {
  try {
    action();
  } catch (const TransportError& error) {
    CHECK(error.kind() == ErrorKind::remote);
    return error.reason();
  }
  throw std::runtime_error{"no TransportError"};
}

}  // namespace

TEST_CASE("a connection is used again") {
  LoopbackServer server{{Reply{.body = "one", .chunked = true, .piece = 1},
                         Reply{.status = 404, .headers = {{"X-A", "1"}, {"x-a", "2"}}},
                         Reply{.body = "three", .piece = 2}}};
  const auto client = make_client({.user_agent = "test/1"});
  CHECK(client->send({.url = server.url() + "/a?b=c"}).body == "one");
  const Response missing = client->send({.method = "HEAD", .url = server.url()});
  CHECK(missing.status == 404);
  CHECK(missing.header("X-a") == "2");
  CHECK_FALSE(missing.header("none"));
  std::string streamed;
  const Response last = client->send(
      {.url = server.url(), .on_data = [&](std::string_view bytes) { streamed += bytes; }});
  CHECK(streamed == "three");
  CHECK(last.body.empty());
  const auto requests = server.requests();
  CHECK(requests.at(0).target == "/a?b=c");
  CHECK(requests.at(0).header("user-agent") == "test/1");
  CHECK(requests.at(2).connection == 1);
}

TEST_CASE("bodies go out whole or streamed, with or without a size") {
  LoopbackServer server{[](const ReceivedRequest&) { return Reply{}; }};
  const auto client = make_client({});
  client->send({.method = "POST", .url = server.url(), .body = "text"});
  client->send({.method = "PUT", .url = server.url()});
  for (const bool sized : {true, false}) {
    std::size_t left = 300'000;
    Request request{.method = "PATCH", .url = server.url()};
    request.read_body = [&left](char* buffer, std::size_t size) {
      const std::size_t count = std::min(size, left);
      std::fill_n(buffer, count, 'x');
      left -= count;
      return count;
    };
    if (sized) {
      request.body_size = left;
    }
    CHECK(client->send(request).status == 200);
  }
  const auto requests = server.requests();
  REQUIRE(requests.size() == 4);
  CHECK(requests[0].body == "text");
  CHECK(requests[0].header("content-type").empty());
  CHECK(requests[1].header("content-length") == "0");
  CHECK(requests[2].body == std::string(300'000, 'x'));
  CHECK(requests[2].header("content-length") == "300000");
  CHECK(requests[3].body == std::string(300'000, 'x'));
  CHECK(requests[3].header("transfer-encoding") == "chunked");
  CHECK(requests[3].method == "PATCH");
}

TEST_CASE("exceptions of callbacks leave send, and the client goes on") {
  LoopbackServer server{[](const ReceivedRequest&) { return Reply{.body = "text"}; }};
  const auto client = make_client({});
  CHECK_THROWS_AS(
      client->send({.url = server.url(),
                    .on_data = [](std::string_view) { throw std::out_of_range{"data"}; }}),
      std::out_of_range);
  Request upload{.method = "PUT", .url = server.url()};
  upload.read_body = [](char*, std::size_t) -> std::size_t { throw std::out_of_range{"read"}; };
  CHECK_THROWS_AS(client->send(upload), std::out_of_range);
  CHECK(client->send({.url = server.url()}).body == "text");
}

TEST_CASE("a callback may send a request of its own, and threads share a client") {
  LoopbackServer server{
      [](const ReceivedRequest& request) { return Reply{.body = request.target}; }};
  const auto client = make_client({});
  std::string inner;
  client->send({.url = server.url() + "/outer", .on_data = [&](std::string_view) {
                  inner = client->send({.url = server.url() + "/inner"}).body;
                }});
  CHECK(inner == "/inner");
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 20; ++j) {
        const std::string path = fmt::format("/{}/{}", i, j);
        good += client->send({.url = server.url() + path}).body == path ? 1 : 0;
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CHECK(good == 80);
}

TEST_CASE("the reporter gets each request without its secrets") {
  LoopbackServer server{{Reply{.status = 201}, Reply{.drop = true}, Reply{.drop = true}}};
  RecordingReporter recorder;
  const auto client = make_client({.reporter = &recorder});
  client->send({.method = "POST", .url = server.url() + "/up?token=s3cret"});
  CHECK_THROWS_AS(client->send({.url = server.url() + "/gone"}), TransportError);
  REQUIRE(recorder.details.size() == 2);
  CHECK(recorder.details[0].starts_with("POST " + server.url() + "/up?token=*** 201 "));
  CHECK(recorder.details[0].ends_with(" ms"));
  CHECK(recorder.details[1].starts_with("GET " + server.url() + "/gone failed "));
}

TEST_CASE("each way to fail has its reason") {
  using Reason = TransportError::Reason;
  const auto client = make_client({});
  int port = 0;
  {
    LoopbackServer server{{Reply{.drop = true}, Reply{.body = "0123456789", .drop_after = 3},
                           Reply{.stall = 400ms}, Reply{.raw = "no HTTP at all\r\n\r\n"},
                           Reply{.close = true, .raw = "HTTP/1.1 200 OK\r\nContent-Len"}}};
    port = server.port();
    CHECK(reason_of([&] { client->send({.url = server.url()}); }) == Reason::reset);
    CHECK(reason_of([&] { client->send({.url = server.url()}); }) == Reason::reset);
    CHECK(reason_of([&] { client->send({.url = server.url(), .timeout = 50ms}); }) ==
          Reason::timeout);
    CHECK(reason_of([&] { client->send({.url = server.url()}); }) == Reason::protocol);
    CHECK(reason_of([&] { client->send({.url = server.url()}); }) == Reason::reset);
  }
  const std::string url = fmt::format("http://127.0.0.1:{}/?key=s3cret", port);
  CHECK(reason_of([&] { client->send({.url = url}); }) == Reason::connect);
  CHECK(reason_of([&] { client->send({.url = "http://name.invalid"}); }) == Reason::resolve);
  try {
    client->send({.what = "ask the server", .url = url});
    FAIL("did not throw");
  } catch (const TransportError& error) {
    CHECK(error.message() == "could not ask the server");
    REQUIRE(error.causes().size() == 1);
    CHECK(error.causes()[0].starts_with(
        fmt::format("GET http://127.0.0.1:{}/?key=***: failed to connect", port)));
    CHECK(error.causes()[0].find("s3cret") == std::string::npos);
  }
  CHECK_THROWS_AS(client->send({.url = "nonsense"}), Error);
}

TEST_CASE("an answer beyond the limit is refused, unless it is streamed") {
  const std::string megabyte(1U << 20U, 'x');
  LoopbackServer server{[&](const ReceivedRequest& request) {
    std::string body;
    for (int i = 0; i < (request.target == "/large" ? 65 : 1); ++i) {
      body += megabyte;
    }
    return Reply{.body = body};
  }};
  const auto client = make_client({});
  CHECK(client->send({.url = server.url() + "/small"}).body == megabyte);
  CHECK_THROWS_AS(client->send({.url = server.url() + "/large"}), TransportError);
  std::size_t size = 0;
  client->send({.url = server.url() + "/large",
                .on_data = [&](std::string_view bytes) { size += bytes.size(); }});
  CHECK(size == 65 * megabyte.size());
}

TEST_CASE("the body of a refusal is gathered, not streamed") {
  LoopbackServer server{{Reply{.status = 403, .body = "denied"}}};
  bool called = false;
  const Response response = make_client({})->send(
      {.url = server.url(), .on_data = [&](std::string_view) { called = true; }});
  CHECK(response.body == "denied");
  CHECK_FALSE(called);
}

TEST_CASE("an answer that comes before the body is read counts") {
  LoopbackServer server{
      [](const ReceivedRequest&) { return Reply{.status = 401, .body = "who?", .close = true}; }};
  Request request{.method = "PUT", .url = server.url(), .headers = {{"X-Early", "1"}}};
  std::size_t left = 50'000'000;
  request.body_size = left;
  request.read_body = [&left](char*, std::size_t size) {
    const std::size_t count = std::min(size, left);
    left -= count;
    return count;
  };
  CHECK(make_client({})->send(request).status == 401);
}

TEST_CASE("redirects are followed without the login") {
  LoopbackServer other{[](const ReceivedRequest&) { return Reply{.body = "there"}; }};
  LoopbackServer server{[&](const ReceivedRequest& request) {
    if (request.target == "/far") {
      const std::string target = fmt::format("http://me:pw@127.0.0.1:{}/x", other.port());
      return Reply{.status = 307, .headers = {{"Location", target}}};
    }
    if (request.target == "/near") {
      return Reply{.status = 302, .headers = {{"Location", "here?q=1"}}};
    }
    if (request.target == "/file") {
      return Reply{.status = 302, .headers = {{"Location", "file:///etc/hostname"}}};
    }
    if (request.target == "/loop") {
      return Reply{.status = 302, .headers = {{"Location", "/loop"}}};
    }
    return Reply{.body = request.target + " " + request.header("authorization")};
  }};
  const auto client = make_client({});
  const auto get = [&](const std::string& path, int limit) {
    return client->send({.url = server.url() + path,
                         .headers = {{"Authorization", "Bearer t"}},
                         .max_redirects = limit});
  };
  CHECK(get("/near", 3).body == "/here?q=1 Bearer t");
  CHECK(get("/near", 3).url == server.url() + "/here?q=1");
  CHECK(get("/here", 3).url == server.url() + "/here");
  CHECK(get("/far", 3).body == "there");
  CHECK(other.requests().at(0).header("authorization").empty());
  CHECK(get("/far", 0).status == 307);
  CHECK_THROWS_AS(get("/file", 3), TransportError);
  CHECK_THROWS_AS(get("/loop", 3), TransportError);
}

TEST_CASE("an answer is compressed only for who asks for it, and comes unpacked") {
  // `compressed`, with gzip.
  const auto packed = base64_decode("H4sIAAAAAAACA0vOzy0oSi0uTk0BAB5LVpcKAAAA");
  LoopbackServer server{[&](const ReceivedRequest& request) {
    const bool may = request.header("accept-encoding").find("gzip") != std::string::npos;
    return may ? Reply{.headers = {{"Content-Encoding", "gzip"}}, .body = *packed}
               : Reply{.body = "plain"};
  }};
  const auto client = make_client({});
  CHECK(client->send({.url = server.url(), .compressed = true}).body == "compressed");
  CHECK(client->send({.url = server.url()}).body == "plain");
  std::string streamed;
  client->send({.url = server.url(),
                .on_data = [&](std::string_view bytes) { streamed += bytes; },
                .compressed = true});
  CHECK(streamed == "compressed");
}

TEST_CASE("a proxy of the request's own is asked, but not for this machine") {
  LoopbackServer proxy{
      [](const ReceivedRequest& request) { return Reply{.body = request.target}; }};
  const auto client = make_client({});
  const Secret place{proxy.url()};
  CHECK(client->send({.url = "http://packages.test/a", .proxy = place}).body ==
        "http://packages.test/a");
  LoopbackServer server{[](const ReceivedRequest&) { return Reply{.body = "itself"}; }};
  CHECK(client->send({.url = server.url(), .proxy = place}).body == "itself");
}

TEST_CASE("a cancelled request ends soon") {
  LoopbackServer server{{Reply{.stall = 3s}}};
  Cancellation cancellation;
  const auto client = make_client({.cancellation = &cancellation});
  std::thread thread{[&] {
    std::this_thread::sleep_for(50ms);
    cancellation.requested = true;
  }};
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(client->send({.url = server.url()}), Interrupted);
  CHECK(std::chrono::steady_clock::now() - start < 1s);
  thread.join();
}

TEST_CASE("a unix socket is spoken to, and missed by name") {
  const auto path = socket_path();
  const auto client = make_client({});
  try {
    client->send({.url = "http://localhost/_ping", .unix_socket = path});
    FAIL("did not throw");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    CHECK(error.message() == "cannot connect to `" + path.string() + "`");
    CHECK(error.causes() == std::vector<std::string>{"No such file or directory"});
  }
  {
    LoopbackServer server{{Reply{.body = "OK"}}, path};
    CHECK(client->send({.url = "http://localhost/_ping", .unix_socket = path}).body == "OK");
  }
  std::filesystem::remove(path);
}

TEST_CASE("requests to this machine bypass proxies") {
  LoopbackServer server{{Reply{.body = "direct"}}};
  LoopbackServer proxy{{Reply{.body = "through the proxy"}}};
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  const auto client = make_client({});
  CHECK(client->send({.url = server.url()}).body == "direct");
  CHECK(client->send({.url = "http://name.invalid/x"}).body == "through the proxy");
  ::unsetenv("http_proxy");
  CHECK(proxy.requests().at(0).target == "http://name.invalid/x");
}

TEST_CASE("an upgraded connection carries bytes both ways") {
  const auto path = socket_path();
  LoopbackServer server{{Reply{.raw = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n\r\nhello",
                               .echo_after = true},
                         Reply{.status = 404, .body = "no such container"}},
                        path};
  const auto client = make_client({});
  Request request{.method = "POST", .url = "http://localhost/attach?x=1", .unix_socket = path};
  const auto stream = client->upgrade(request);
  const auto read = [&](std::size_t size) {
    std::string text(size, '\0');
    std::size_t count = 0;
    while (count < size) {
      const std::size_t more = stream->read(text.data() + count, size - count);
      REQUIRE(more > 0);
      count += more;
    }
    return text;
  };
  CHECK(read(5) == "hello");
  stream->write("ping");
  CHECK(read(4) == "ping");
  stream->close_write();
  char byte = 0;
  CHECK(stream->read(&byte, 1) == 0);
  CHECK(server.requests().at(0).header("upgrade") == "tcp");
  CHECK(server.requests().at(0).header("host") == "localhost");
  request.what = "attach";
  try {
    client->upgrade(request);
    FAIL("did not throw");
  } catch (const Error& error) {
    CHECK(error.message() == "could not attach");
    CHECK(error.causes() ==
          std::vector<std::string>{"POST http://localhost/attach?x=***: 404: no such container"});
  }
  std::filesystem::remove(path);
}

TEST_CASE("a request that must not be sent twice takes a new connection") {
  LoopbackServer server{
      [](const ReceivedRequest& request) { return Reply{.drop = request.method == "POST"}; }};
  const auto client = make_client({});
  client->send({.url = server.url()});
  CHECK_THROWS_AS(client->send({.method = "POST", .url = server.url(), .new_connection = true}),
                  TransportError);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("a header with a line break is never sent") {
  CHECK_THROWS_AS(
      make_client({})->send({.url = "http://127.0.0.1:9", .headers = {{"A", "b\r\nC: d"}}}), Error);
}

TEST_CASE("a server with another name in its certificate is reached at its address") {
  LoopbackServer server{[](const ReceivedRequest&) { return Reply{.body = "here"}; }};
  const auto client = make_client({});
  const auto response =
      client->send({.url = server.url() + "/a?b=c", .tls = {.server_name = "api.invalid"}});
  CHECK(response.body == "here");
  const auto request = server.requests().at(0);
  CHECK(request.target == "/a?b=c");
  CHECK("http://" + request.header("host") == server.url());
}

TEST_CASE("a proxy is used for this machine only on request") {
  LoopbackServer proxy{[](const ReceivedRequest&) { return Reply{.body = "proxy"}; }};
  LoopbackServer server{[](const ReceivedRequest&) { return Reply{.body = "server"}; }};
  const auto client = make_client({});
  CHECK(client->send({.url = server.url(), .proxy = Secret{proxy.url()}}).body == "server");
  CHECK(
      client->send({.url = server.url(), .proxy = Secret{proxy.url()}, .proxy_for_loopback = true})
          .body == "proxy");
}

TEST_CASE("a certificate that is no certificate is an error of TLS") {
  LoopbackServer server{[](const ReceivedRequest&) { return Reply{}; }};
  const auto client = make_client({});
  const auto address = replace_all(server.url(), "http:", "https:");
  for (const auto& tls : {Tls{.ca = "nonsense"}, Tls{.certificate = "x", .key = Secret{"y"}}}) {
    try {
      client->send({.url = address, .tls = tls});
      FAIL("it was sent");
    } catch (const TransportError& error) {
      CHECK(error.reason() == TransportError::Reason::tls);
    }
  }
}

TEST_CASE("a transfer ends as soon as it is stopped") {
  LoopbackServer server{[](const ReceivedRequest&) { return Reply{.stall = 30s}; }};
  const auto client = make_client({});
  std::atomic<bool> stop{false};
  std::jthread stopper{[&] {
    std::this_thread::sleep_for(50ms);
    stop = true;
  }};
  CHECK(reason_of([&] { client->send({.url = server.url(), .timeout = 0ms, .stop = &stop}); }) ==
        TransportError::Reason::reset);
}

}  // namespace autopack::http_client_test
