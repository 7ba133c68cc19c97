#include "base/error.hpp"
#include "index/file_names.hpp"
#include "index/html_tags.hpp"
#include "index/minimum_speed.hpp"
#include "index/simple_page.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace autopack::index_simple_page_test {

using namespace autopack::index;

namespace {

constexpr auto json_type = "application/vnd.pypi.simple.v1+json";
constexpr auto page_url = "https://index.test/simple/pkg/";

SimplePage read(const std::string& type, const std::string& body) {
  return read_simple_page({.url = page_url, .content_type = type, .body = body});
}

Candidate only(const SimplePage& page) {
  REQUIRE(page.files.size() == 1);
  return page.files.front();
}

Candidate of_anchor(const std::string& anchor) {
  return only(read("text/html", anchor));
}

Candidate of_json(const std::string& fields) {
  return only(read(json_type, fmt::format(R"({{"files": [{{{}}}]}})", fields)));
}

std::string text(const std::vector<python::Hash>& hashes) {
  std::string all;
  for (const auto& hash : hashes) {
    all += hash.algorithm + ":" + hash.hex + " ";
  }
  return all;
}

}  // namespace

TEST_CASE("an anchor contains a file with all its attributes") {
  const auto file = of_anchor(
      "<!DOCTYPE html><html><body>\n"
      "<a href=\"../../files/pkg-1.0-py3-none-any.whl#sha256=ABCD\" "
      "data-requires-python=\"&gt;=3.8,"
      "&lt;4\" data-yanked=\"it&#39;s broken\" data-core-metadata=\"sha256=ef01\">pkg</a>");
  CHECK(file.name == "pkg-1.0-py3-none-any.whl");
  CHECK(file.url == "https://index.test/files/pkg-1.0-py3-none-any.whl");
  CHECK(text(file.hashes) == "sha256:abcd ");
  CHECK(file.requires_python == ">=3.8,<4");
  CHECK(file.yanked == "it's broken");
  CHECK(text(file.metadata.value()) == "sha256:ef01 ");
  const auto plain = of_anchor("<a href='pkg-1.0.tar.gz'>");
  CHECK(plain.url == "https://index.test/simple/pkg/pkg-1.0.tar.gz");
  CHECK(plain.hashes.empty());
  CHECK_FALSE(plain.requires_python);
  CHECK_FALSE(plain.yanked);
  CHECK_FALSE(plain.metadata);
  CHECK_FALSE(plain.size);
}

TEST_CASE("other data on a JSON page costs nothing, however often it occurs") {
  const auto many = [](const std::string& one) {
    std::string all = one;
    for (int i = 0; i < 110'000; ++i) {  // more than a page may list files
      all += "," + one;
    }
    return all;
  };
  const std::string file = R"({"url": "pkg-1.0.tar.gz", "hashes": {"sha256": "AB"}})";
  for (const auto& body :
       {fmt::format(R"({{"meta": [{}], "files": [{}]}})", many("{}"), file),
        fmt::format(R"({{"meta": {{"api-version": "1.0", "x": [{}]}}, "files": [{}]}})",
                    many(R"({"a": {}})"), file),
        fmt::format(R"({{"versions": [{}], "files": [{}]}})", many("[]"), file),
        fmt::format(R"({{"files": [{}, {}, {}]}})", many("[{}]"), file, many("\"\"")),
        fmt::format(R"({{"files": [{}, {}]}})", many("1"), file)}) {
    const auto page = read(json_type, body);
    CHECK(only(page).name == "pkg-1.0.tar.gz");
    CHECK(text(only(page).hashes) == "sha256:ab ");
  }
  const auto filled = only(read(
      json_type, fmt::format(R"({{"files": [{{"url": "pkg-1.0.tar.gz", "x": [{}], "yanked": [{}],
                                 "hashes": {{"sha256": "AB", "y": {{"z": [{}]}}}}}}]}})",
                             many("{}"), many("1"), many("[]"))));
  CHECK(text(filled.hashes) == "sha256:ab ");
  CHECK_FALSE(filled.yanked);
  CHECK_THROWS_WITH_AS(read(json_type, fmt::format(R"({{"files": [{}]}})", many("{}"))),
                       "a page of the package index lists more than 100000 files", Error);
  CHECK(read(json_type, R"({"files": {"a": {"url": "pkg-1.0.tar.gz"}}})").files.empty());
}

TEST_CASE("an answer that trickles is too slow, one that is slow is not") {
  using namespace std::chrono_literals;
  const auto start = MinimumSpeed::Clock::now();
  MinimumSpeed trickling{"download `a.whl`", start};
  for (int second = 0; second < 60; ++second) {
    trickling.add(2, start + second * 1s);
  }
  CHECK_THROWS_WITH_AS(trickling.add(2, start + 60s), "could not download `a.whl`", Error);
  MinimumSpeed slow{"download `a.whl`", start};
  for (int second = 1; second < 1000; ++second) {
    slow.add(150, start + second * 1s);
  }
  slow.add(1, start + 2000s);
}

TEST_CASE("reading a page ends when that is asked for") {
  Cancellation cancellation;
  cancellation.requested = true;
  std::string numbers = "1";
  for (int i = 0; i < 10'000; ++i) {
    numbers += ",1";
  }
  CHECK_THROWS_WITH_AS(
      read_simple_page(
          {.url = page_url, .content_type = json_type, .body = R"({"files": [)" + numbers + "]}"},
          &cancellation),
      "interrupted", Interrupted);
  CHECK_THROWS_WITH_AS(
      read_simple_page({.url = page_url, .content_type = "text/html", .body = "<a><a>"},
                       &cancellation),
      "interrupted", Interrupted);
}

TEST_CASE("metadata may be announced with a hash, without one, and under its old name") {
  const std::vector<std::pair<std::string, std::string>> announced{
      {"data-core-metadata=true", ""},
      {"data-dist-info-metadata='sha256=0a'", "sha256:0a "},
      {"data-core-metadata='sha256=1b' data-dist-info-metadata='sha256=0a'", "sha256:1b "},
      {"data-core-metadata='nonsense=1b'", ""},
  };
  for (const auto& [attributes, hashes] : announced) {
    const auto& shown = attributes;  // clang 14 captures no binding
    CAPTURE(shown);
    const auto file = of_anchor(fmt::format("<a {} href='p-1.whl'>", attributes));
    CHECK(text(file.metadata.value()) == hashes);
  }
}

TEST_CASE("the links of a page are relative to its base") {
  for (const auto* const base :
       {"<base href='https://cdn.test/x/'>", "<BASE HREF=//cdn.test/x/y>"}) {
    for (const bool first : {true, false}) {
      const std::string anchor = "<a href=a-1.zip>";
      const auto page = first ? base + anchor : anchor + base;
      CHECK(of_anchor(page).url == "https://cdn.test/x/a-1.zip");
    }
  }
}

TEST_CASE("the page of a server names no file of this machine") {
  for (const auto* const page : {"<a href='file:///srv/me/pkg-1.0.zip'>",
                                 "<base href='file:///srv/me/'><a href='pkg-1.0.zip'>"}) {
    CHECK(read("text/html", page).files.empty());
  }
  const std::string body = R"({"files": [{"url": "file:///srv/me/pkg-1.0.zip"}]})";
  CHECK(read(json_type, body).files.empty());
  CHECK(read_simple_page({.url = "file:///srv/pkg/", .content_type = json_type, .body = body})
            .files.size() == 1);
}

TEST_CASE("text that is not the start tag of a link neither hides nor creates one") {
  const std::vector<std::pair<std::string, int>> pages{
      {"<!-- <a href=a-1.zip> --><a href=b-1.zip>", 1},
      {"<script>x = '<a href=a-1.zip>'</script><a href=b-1.zip>", 1},
      {"<style><a href=a-1.zip></STYLE ><a href=b-1.zip>", 1},
      {"a < b <a href=b-1.zip>", 1},
      {"<abbr href=a-1.zip><a href=b-1.zip>", 1},
      {"</a href=a-1.zip><?a href=a-1.zip?><a href=b-1.zip>", 1},
      {"<a>text</a><a name=x><a href><a href=''><a href=b-1.zip>", 1},
      {"<a href=mailto:me@x.test><a href='ftp://x/a-1.zip'><a href='javascript:x()'>", 0},
      {"<a href='a-1.zip", 0},
      {"<!-- <a href=a-1.zip>", 0},
      {"<a href='%2e%2e/%2e%2e'><a href='a%2fb-1.zip'><a href='a%0ab-1.zip'>", 0},
      {"<A\nHREF\t=\n\"b-1.zip\"\n/>", 1},
      {"<a title='>' href=b-1.zip>", 1},
      {"<a/href=b-1.zip>", 1},
  };
  for (const auto& [page, count] : pages) {
    const auto& shown = page;  // clang 14 captures no binding
    CAPTURE(shown);
    CHECK(static_cast<int>(read("text/html; charset=utf-8", page).files.size()) == count);
  }
}

TEST_CASE("paths of URLs are encoded once, as pip does") {
  const std::vector<std::pair<std::string, std::string>> links{
      {"a+cpu.whl", "https://index.test/simple/pkg/a%2Bcpu.whl"},
      {"a%2Bcpu.whl", "https://index.test/simple/pkg/a%2Bcpu.whl"},
      {"a b.whl", "https://index.test/simple/pkg/a%20b.whl"},
      {"x@y%2fz/a.whl?k=v w", "https://index.test/simple/pkg/x@y%2Fz/a.whl?k=v w"},
      {"//h:8080/a.whl", "https://h:8080/a.whl"},
      {"https://me:secret@h/a.whl", "https://h/a.whl"},
      {"../.././a.whl", "https://index.test/a.whl"},
      {"./x/../a.whl", "https://index.test/simple/pkg/a.whl"},
      {" \n a.whl \t", "https://index.test/simple/pkg/a.whl"},
  };
  for (const auto& [href, url] : links) {
    const auto& shown = href;  // clang 14 captures no binding
    CAPTURE(shown);
    CHECK(of_anchor("<a href=\"" + href + "\">").url == url);
  }
  CHECK(of_anchor("<a href='a%2Bcpu.whl'>").name == "a+cpu.whl");
}

TEST_CASE("character references become their characters") {
  const std::vector<std::pair<std::string, std::string>> texts{
      {"&gt;=3", ">=3"},
      {"&gt=3", ">=3"},
      {"&#62;&#x3e;&#X3E", ">>>"},
      {"a&b&", "a&b&"},
      {"&amp;amp;", "&amp;"},
      {"&#;&#x;&nothing;", "&#;&#x;&nothing;"},
      {"&#8364;", "\u20AC"},
      {"&#128512;", "\U0001F600"},
      {"&#233;", "\u00E9"},
      {"&#0;", "\uFFFD"},
      {"&#99999999999;", "\uFFFD"},
      {"&#xD800;", "\uFFFD"}};
  for (const auto& [written, meant] : texts) {
    const auto& shown = written;  // clang 14 captures no binding
    CAPTURE(shown);
    CHECK(without_references(written) == meant);
  }
}

TEST_CASE("a file of a JSON page has the same facts, and its size and time") {
  const auto file = of_json(
      R"("filename": "pkg-1.0-py3-none-any.whl", "url": "../../f/pkg-1.0-py3-none-any.whl",
         "hashes": {"sha256": "ABCD", "md5": "00", "blake9": "11"}, "requires-python": ">=3.8",
         "core-metadata": {"sha256": "ef01"}, "yanked": "broken", "size": 123,
         "upload-time": "2024-01-02T03:04:05Z", "provenance": null)");
  CHECK(file.name == "pkg-1.0-py3-none-any.whl");
  CHECK(file.url == "https://index.test/f/pkg-1.0-py3-none-any.whl");
  CHECK(text(file.hashes) == "md5:00 sha256:abcd ");
  CHECK(file.requires_python == ">=3.8");
  CHECK(text(file.metadata.value()) == "sha256:ef01 ");
  CHECK(file.yanked == "broken");
  CHECK(file.size == 123U);
  CHECK(file.uploaded == "2024-01-02T03:04:05Z");
}

TEST_CASE("in JSON each field may be missing, null, or of another type") {
  const std::string url = R"("url": "https://h/p-1.whl")";
  CHECK(of_json(url).name == "p-1.whl");
  CHECK(of_json(url + R"(, "yanked": true)").yanked == "");
  CHECK_FALSE(of_json(url + R"(, "yanked": false)").yanked);
  CHECK_FALSE(of_json(url + R"(, "yanked": "")").yanked);
  CHECK(of_json(url + R"(, "core-metadata": true)").metadata.value().empty());
  CHECK_FALSE(of_json(url + R"(, "core-metadata": false)").metadata);
  CHECK(of_json(url + R"(, "core-metadata": null, "dist-info-metadata": true)").metadata);
  const auto odd = of_json(url + R"(, "hashes": [1], "size": "many", "requires-python": null,
                                      "core-metadata": 3, "yanked": {}, "upload-time": 5)");
  CHECK(odd.hashes.empty());
  CHECK_FALSE(odd.size);
  CHECK_FALSE(odd.requires_python);
  const auto empty = of_json(url + R"(, "requires-python": "", "upload-time": "")");
  CHECK_FALSE(empty.requires_python);
  CHECK_FALSE(empty.uploaded);
  for (const auto* const page :
       {"{}", R"({"files": null})", R"({"files": {"url": "https://h/p-1.whl"}})",
        R"({"files": [1, null, [{"url": "https://h/p-1.whl"}], {}, {"url": 1}]})",
        R"({"versions": [{"url": "https://h/p-1.whl"}]})",
        R"({"files": [{"url": "https://h/p-1.whl", "filename": "../p-1.whl"}]})"}) {
    CAPTURE(page);
    CHECK(read(json_type, page).files.empty());
  }
}

TEST_CASE("a newer minor version of the API is warned of, a newer major one refused") {
  const auto json = [](const char* version) {
    return read(json_type, fmt::format(R"({{"meta": {{"api-version": "{}"}}}})", version));
  };
  CHECK_FALSE(json("1.0").warning);
  CHECK_FALSE(json("1.4").warning);
  CHECK_FALSE(json("").warning);
  CHECK(json("1.99").warning ==
        "`https://index.test/simple/pkg/` uses version 1.99 of the simple API; autopack supports "
        "1.4 and reads the common part");
  CHECK_THROWS_WITH_AS(
      json("2.0"),
      "the package index uses version 2.0 of the simple API, but autopack supports version 1",
      Error);
  CHECK_THROWS_AS(read("text/html", "<meta name='pypi:repository-version' content='2.0'>"), Error);
}

TEST_CASE("an invalid page of an index is refused") {
  for (const auto* const type : {"", "application/json", "text/plain", "application/octet-stream",
                                 "application/vnd.pypi.simple.v2+json"}) {
    CAPTURE(type);
    CHECK_THROWS_AS(read(type, "{}"), Error);
  }
  for (const auto* const body : {"", "[]", "nothing", "{\"files\": [", "\"text\""}) {
    CAPTURE(body);
    CHECK_THROWS_WITH_AS(read(json_type, body), "the package index did not return a JSON object",
                         Error);
  }
  std::string deep = "{\"files\": ";
  deep.append(100'000, '[');
  CHECK_THROWS_AS(read(json_type, deep), Error);
  std::string many;
  for (int i = 0; i <= 100'000; ++i) {
    many += "<a href=a>";
  }
  CHECK_THROWS_WITH_AS(read("text/html", many),
                       "a page of the package index lists more than 100000 files", Error);
}

TEST_CASE("a file belongs to the project that its name begins with") {
  const std::vector<std::pair<std::string, bool>> names{
      {"my_pkg-1.0-py3-none-any.whl", true},
      {"My.Pkg-1.0-py3-none-any.whl", true},
      {"my-pkg-1.0.tar.gz", true},
      {"my_pkg-1.0.zip", true},
      {"my--pkg-1.0.tgz", true},
      {"my_pkg_extra-1.0-py3-none-any.whl", false},
      {"my-1.0.tar.gz", false},
      {"my-pkg.tar.gz", false},
      {"my_pkg-1.0.exe", false},
      {"my_pkg-1.0-py3-none.whl", false},
      {"my_pkg-1.0-1-py3-none-any.whl", true},
      {"other-my-pkg-1.0.tar.gz", false}};
  for (const auto& [name, belongs] : names) {
    const auto& shown = name;  // clang 14 captures no binding
    CAPTURE(shown);
    CHECK(is_file_of(name, "my-pkg") == belongs);
  }
}

}  // namespace autopack::index_simple_page_test
