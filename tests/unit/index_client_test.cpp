#include "index/index_client.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "support/loopback_server.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace autopack::index_client_test {

using namespace autopack::index;
using autopack::testing::LoopbackServer;
using autopack::testing::ReceivedRequest;
using autopack::testing::RecordingReporter;
using autopack::testing::Reply;

namespace {

const http::Header json_type{"Content-Type", "application/vnd.pypi.simple.v1+json"};
const http::Header html_type{"Content-Type", "text/html; charset=UTF-8"};

Reply links(const std::string& names) {
  std::string body;
  for (const auto& name : split(names, ' ')) {
    body += fmt::format("<a href='{}'>{}</a>\n", name, name);
  }
  return {.headers = {html_type}, .body = body};
}

/// Indexes by their settings, and their cache.
struct Indexes {
  template <class Action>
  auto with(const Action& action) {
    const Access access{{.client = client.get(),
                         .settings = settings,
                         .reporter = &reporter,
                         .sleep = [this](std::chrono::milliseconds) { ++sleeps; }}};
    IndexClient indexes{access, cache.path()};
    return action(indexes);
  }

  std::vector<Candidate> candidates(const std::string& project) {
    return with([&](IndexClient& indexes) { return indexes.candidates(project); });
  }

  std::string names(const std::string& project) {
    std::vector<std::string> all;
    for (const auto& candidate : candidates(project)) {
      all.push_back(candidate.name);
    }
    return join(all, " ");
  }

  /// Returns the message, causes and hints of an Error.
  std::string refusal(const std::string& project) {
    try {
      candidates(project);
    } catch (const Error& error) {
      return error.message() + ": " + join(error.causes(), ": ") + ". " + join(error.hints(), ". ");
    }
    return "";
  }

  RecordingReporter reporter{};
  std::unique_ptr<http::Client> client{http::make_client({.reporter = &reporter})};
  IndexSettings settings{};
  TemporaryDirectory cache{};
  std::atomic<int> sleeps{0};
};

}  // namespace

TEST_CASE("an index is asked as pip asks it, in JSON before HTML") {
  LoopbackServer server{[](const ReceivedRequest& request) {
    return request.target == "/simple/my-pkg/"
               ? Reply{.headers = {json_type},
                       .body = R"({"files": [{"url": "../../f/my_pkg-1.0.tar.gz"},
                                             {"url": "../../f/other-1.0.tar.gz"}]})"}
               : Reply{.status = 404, .body = "none"};
  }};
  Indexes indexes;
  indexes.settings.indexes = {Location::parse(server.url() + "/simple/")};
  const auto found = indexes.candidates("My_.Pkg");
  REQUIRE(found.size() == 1);
  CHECK(found[0].url == server.url() + "/f/my_pkg-1.0.tar.gz");
  CHECK(found[0].index == server.url() + "/simple/");
  CHECK(indexes.candidates("unknown").empty());
  const auto requests = server.requests();
  CHECK(requests.at(0).header("accept") ==
        "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, "
        "text/html; q=0.01");
  CHECK(requests.at(1).target == "/simple/unknown/");
}

TEST_CASE("all indexes are equal, and links come first") {
  LoopbackServer one{[](const ReceivedRequest&) { return links("p-1.0.zip p-2.0.zip"); }};
  LoopbackServer two{[](const ReceivedRequest&) { return links("p-3.0.zip q-1.0.zip"); }};
  LoopbackServer page{[](const ReceivedRequest&) { return links("p-0.1.zip q-0.1.zip"); }};
  Indexes indexes;
  indexes.settings.indexes = {Location::parse(one.url() + "/a"), Location::parse(two.url() + "/b")};
  write_file(indexes.cache.path() / "wheels" / "p-0.2-py3-none-any.whl", "12345");
  write_file(indexes.cache.path() / "wheels" / "p-0.3-notes.txt", "");
  write_file(indexes.cache.path() / "wheels" / "more.html", "<a href=sub/p-0.4.zip>");
  write_file(indexes.cache.path() / "p-0.5.zip", "");
  indexes.settings.find_links = {
      Location::parse(page.url() + "/links"), Location::parse(page.url() + "/p-0.6.zip"),
      Location::parse((indexes.cache.path() / "wheels").string()),
      Location::parse("file://" + (indexes.cache.path() / "p-0.5.zip").string()),
      Location::parse((indexes.cache.path() / "nowhere").string())};
  CHECK(indexes.names("p") ==
        "p-0.4.zip p-0.2-py3-none-any.whl p-0.5.zip p-0.1.zip p-0.6.zip p-1.0.zip p-2.0.zip "
        "p-3.0.zip");
  CHECK(page.requests().size() == 1);
  const auto local = indexes.candidates("p").at(1);
  CHECK(local.size == 5U);
  CHECK(local.url == "file://" + (indexes.cache.path() / "wheels/p-0.2-py3-none-any.whl").string());
  indexes.settings.indexes.clear();
  CHECK(indexes.names("q") == "q-0.1.zip");
}

TEST_CASE("an index may be a directory") {
  Indexes indexes;
  write_file(indexes.cache.path() / "simple" / "p" / "index.html", "<a href=../../p-1.0.zip>");
  for (const auto& place : {(indexes.cache.path() / "simple").string(),
                            "file://" + (indexes.cache.path() / "simple").string() + "/"}) {
    indexes.settings.indexes = {Location::parse(place)};
    const auto found = indexes.candidates("p");
    REQUIRE(found.size() == 1);
    CHECK(found[0].url == "file://" + (indexes.cache.path() / "p-1.0.zip").string());
    CHECK(indexes.candidates("q").empty());
  }
}

TEST_CASE("many projects are asked for at once, each under its own name") {
  LoopbackServer server{[](const ReceivedRequest& request) {
    return links(split(request.target, '/').at(2) + "-1.0.zip");
  }};
  Indexes indexes;
  indexes.settings.indexes = {Location::parse(server.url() + "/simple")};
  std::vector<std::string> projects;
  for (int i = 0; i < 40; ++i) {
    projects.push_back(fmt::format("P{}", i));
  }
  const auto found =
      indexes.with([&](IndexClient& client) { return client.candidates_of(projects); });
  REQUIRE(found.size() == 40);
  for (const auto& [project, files] : found) {
    REQUIRE(files.size() == 1);
    CHECK(files[0].name == to_lower(project) + "-1.0.zip");
  }
  const auto requests = server.requests();
  const auto last =
      std::max_element(requests.begin(), requests.end(),
                       [](const auto& a, const auto& b) { return a.connection < b.connection; });
  CHECK(last->connection <= 8);
}

TEST_CASE("a cached page is revalidated, and used if unchanged") {
  for (const auto* const mark : {"ETag", "Last-Modified"}) {
    CAPTURE(mark);
    std::atomic<int> version{1};
    LoopbackServer server{[&](const ReceivedRequest& request) {
      const std::string now = fmt::format("\"v{}\"", version.load());
      if (request.header("if-none-match") == now || request.header("if-modified-since") == now) {
        return Reply{.status = 304};
      }
      auto reply = links(fmt::format("p-{}.0.zip", version.load()));
      reply.headers.push_back({mark, now});
      return reply;
    }};
    Indexes indexes;
    indexes.settings.indexes = {Location::parse("http://me:pa55word@" + server.url().substr(7))};
    CHECK(indexes.names("p") == "p-1.0.zip");
    CHECK(indexes.names("p") == "p-1.0.zip");
    version = 2;
    CHECK(indexes.names("p") == "p-2.0.zip");
    for (const auto& entry : std::filesystem::directory_iterator{indexes.cache.path() / "pages"}) {
      CHECK(read_file(entry.path()).find("pa55word") == std::string::npos);
      write_file(entry.path(), read_file(entry.path()) + "damaged");
    }
    CHECK(indexes.names("p") == "p-2.0.zip");
    const auto requests = server.requests();
    REQUIRE(requests.size() == 4);
    CHECK(requests[3].header("if-none-match").empty());
    CHECK(requests[3].header("if-modified-since").empty());
  }
}

TEST_CASE("a login goes only to its index, and is not printed") {
  LoopbackServer files{[](const ReceivedRequest&) { return links("p-1.0.zip"); }};
  LoopbackServer server{[&](const ReceivedRequest&) {
    return Reply{.status = 302, .headers = {{"Location", files.url() + "/deep/p/"}}};
  }};
  Indexes indexes;
  const std::string place = server.url().substr(7);
  indexes.settings.indexes = {Location::parse("http://me:pa55word@" + place + "/simple")};
  const auto found = indexes.candidates("p");
  REQUIRE(found.size() == 1);
  CHECK(found[0].url == files.url() + "/deep/p/p-1.0.zip");
  CHECK(found[0].index == "http://" + place + "/simple");
  CHECK(server.requests().at(0).header("authorization") == "Basic " + base64_encode("me:pa55word"));
  CHECK(files.requests().at(0).header("authorization").empty());
  for (const auto& line : indexes.reporter.details) {
    CHECK(line.find("pa55word") == std::string::npos);
  }
}

TEST_CASE("an index that refuses is named with the remedy") {
  std::atomic<int> status{401};
  LoopbackServer server{[&](const ReceivedRequest& request) {
    return Reply{.status = status, .body = "who are you, " + request.header("authorization")};
  }};
  Indexes indexes;
  const std::string place = server.url().substr(7);
  indexes.settings.indexes = {Location::parse("http://me:pa55word@" + place + "/simple")};
  CHECK(indexes.refusal("p") ==
        fmt::format("could not read the page of `p` in the index http://{}/simple: GET "
                    "http://{}/simple/p/: 401: who are you, Basic ***. add a login to pip's "
                    "index-url (`http://USER:PASSWORD@{}`), or `machine 127.0.0.1` to ~/.netrc",
                    place, place, place));
  status = 403;
  CHECK(indexes.refusal("p").ends_with(". ask for permission to read packages on `127.0.0.1`"));
  status = 404;
  CHECK(indexes.candidates("p").empty());
  CHECK(indexes.sleeps == 0);
  for (const int busy : {429, 500, 503}) {
    status = busy;
    indexes.sleeps = 0;
    indexes.settings.retries = 2;
    CHECK(indexes.refusal("p").find(fmt::format("p/: {}: who", busy)) != std::string::npos);
    CHECK(indexes.sleeps == 2);
  }
}

TEST_CASE("a page that broke off or a busy server is asked again") {
  auto page = links("p-1.0.zip p-2.0.zip");
  auto broken = page;
  broken.drop_after = 30;
  LoopbackServer server{{broken, Reply{.status = 503}, Reply{.drop = true}, page}};
  Indexes indexes;
  indexes.settings.indexes = {Location::parse(server.url())};
  CHECK(indexes.names("p") == "p-1.0.zip p-2.0.zip");
  // libcurl itself reopens a closed kept connection.
  CHECK(indexes.sleeps == 2);
  CHECK(server.requests().size() == 4);
}

TEST_CASE("a page that does not end is given up") {
  LoopbackServer server{[](const ReceivedRequest&) {
    return Reply{.headers = {html_type}, .body = std::string((std::size_t{64} << 20U) + 1, ' ')};
  }};
  Indexes indexes;
  indexes.settings.indexes = {Location::parse(server.url())};
  CHECK(indexes.refusal("p").find("the answer is larger than 67.1 MB") != std::string::npos);
}

TEST_CASE("an index that anybody could play is left out with a warning") {
  Indexes indexes;
  indexes.settings.indexes = {Location::parse("http://plain.test/simple")};
  CHECK(indexes.candidates("p").empty());
  REQUIRE(indexes.reporter.warnings.size() == 1);
  CHECK(indexes.reporter.warnings[0].message ==
        "the package index `http://plain.test/simple` is ignored: its URL is not https");
  CHECK(indexes.reporter.details.empty());
  indexes.settings.indexes.clear();
  CHECK_THROWS_WITH_AS(indexes.candidates("p"), "there is no package index to ask", Error);
}

TEST_CASE("metadata is read where it is announced, and checked") {
  const std::string metadata = "Metadata-Version: 2.1\nName: p\n";
  std::atomic<int> requests{0};
  LoopbackServer server{[&](const ReceivedRequest& request) {
    ++requests;
    return request.target == "/p-1.0.whl.metadata" ? Reply{.body = metadata} : Reply{.status = 404};
  }};
  Indexes indexes;
  const auto read = [&](const Candidate& candidate) {
    return indexes.with([&](IndexClient& client) { return client.metadata(candidate); });
  };
  Candidate candidate{
      .name = "p-1.0.whl", .url = server.url() + "/p-1.0.whl", .index = "the index"};
  CHECK_FALSE(read(candidate));
  CHECK(requests == 0);
  candidate.metadata.emplace();
  CHECK(read(candidate) == metadata);
  candidate.metadata = {{"sha256", sha256(metadata).hex()}};
  CHECK(read(candidate) == metadata);
  CHECK(read(candidate) == metadata);
  CHECK(requests == 2);
  candidate.metadata = {{"sha256", std::string(64, '0')}};
  CHECK_THROWS_WITH_AS(read(candidate),
                       "the metadata of `p-1.0.whl` does not match its hash in the index", Error);
  candidate.url += "x";
  CHECK_FALSE(read(candidate));
}

}  // namespace autopack::index_client_test
