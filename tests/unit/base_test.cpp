#include "base/digest.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace autopack::base_test {

TEST_CASE("sha256 matches the published vectors") {
  CHECK(sha256("").str() ==
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 hash;
  hash.update("a");
  hash.update("bc");
  const Digest abc = hash.finish();
  CHECK(abc.hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash.finish() == sha256(""));
  CHECK(Digest::parse(abc.str()) == abc);
  CHECK_FALSE(Digest::parse("sha256:ABC"));
  CHECK_FALSE(Digest::parse("sha512:" + abc.hex()));
}

TEST_CASE("characters are classified, and text is converted to upper case and hexadecimal") {
  CHECK(to_upper("us-central1 \xc3\xa9") == "US-CENTRAL1 \xc3\xa9");
  CHECK(is_alphanumeric("aZ09"));
  CHECK(is_alphanumeric(""));
  CHECK_FALSE(is_alphanumeric("a-b"));
  CHECK(is_alphanumeric("a-b_c", "-_"));
  CHECK_FALSE(is_alphanumeric("\xc3\xa9"));
  CHECK(hexadecimal(std::string_view{"\x00\x7f\xff", 3}) == "007fff");
}

TEST_CASE("base64 goes both ways") {
  CHECK(base64_encode("") == "");
  CHECK(base64_encode("f") == "Zg==");
  CHECK(base64_encode("fo") == "Zm8=");
  CHECK(base64_encode("foo") == "Zm9v");
  CHECK(base64url_encode("\xfb\xff") == "-_8");
  CHECK(base64_decode("Zm8=") == "fo");
  CHECK(base64_decode("-_8") == "\xfb\xff");
  CHECK_FALSE(base64_decode("Zg*"));
  CHECK_FALSE(base64_decode("Z"));
}

TEST_CASE("nearest finds a slip of the finger and nothing else") {
  const std::vector<std::string> names{"machine-type", "replica-count", "script"};
  CHECK(nearest("machine-tpye", names) == "machine-type");
  CHECK(nearest("scrpit", names) == "script");
  CHECK_FALSE(nearest("colour", names));
}

TEST_CASE("shell_quote leaves plain words alone") {
  CHECK(shell_quote("a-b/c.txt") == "a-b/c.txt");
  CHECK(shell_quote("") == "''");
  CHECK(shell_quote("it's") == "'it'\"'\"'s'");
}

TEST_CASE("printable escapes what a terminal would obey") {
  CHECK(printable("caf\xc3\xa9") == "caf\xc3\xa9");
  CHECK(printable("a\x1b[31m") == "a\\x1b[31m");
  CHECK(printable("\xff") == "\\xff");
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");
  // NOLINTBEGIN(misc-misleading-bidirectional): written as escapes, they mislead nobody.
  CHECK(printable("a\u202Eb") == "a\\xe2\\x80\\xaeb");
  for (const char* mark : {"\u061C", "\u200B", "\u200E", "\u2028", "\u202A", "\u2066", "\uFEFF"}) {
    // NOLINTEND(misc-misleading-bidirectional)
    CHECK(printable(mark).starts_with("\\x"));
  }
  CHECK(printable("\u4E2D\u200D\u2014") == "\u4E2D\u200D\u2014");
}

TEST_CASE("human_size uses decimal units") {
  CHECK(human_size(17) == "17 B");
  CHECK(human_size(1500) == "1.5 kB");
  CHECK(human_size(999'999) == "1.0 MB");
  CHECK(human_size(300'000'000) == "300 MB");
}

TEST_CASE("unified_diff is what diff -u prints") {
  CHECK(unified_diff("a\n", "a\n", "x", "y").empty());
  CHECK(unified_diff("a\nb\nc\n", "a\nB\nc\n", "x", "y") ==
        "--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  CHECK(unified_diff("", "a\n", "x", "y") == "--- x\n+++ y\n@@ -0,0 +1,1 @@\n+a\n");
  CHECK(unified_diff("a", "a\n", "x", "y") ==
        "--- x\n+++ y\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

TEST_CASE("URLs are split and redacted") {
  const auto url = Url::parse("https://me:p%40ss@Example.org:8443/a/b?x=1&y=2#f");
  REQUIRE(url);
  CHECK(url->user == "me");
  CHECK(url->password == "p@ss");
  CHECK(url->origin() == "https://example.org:8443");
  CHECK(url->path == "/a/b");
  CHECK(redact_url("https://me:p@example.org/a?sig=1") == "https://example.org/a?sig=***");
  CHECK(redact_credentials("git+ssh://git@h/x.git ssh://me:p@h https://git@h") ==
        "git+ssh://git@h/x.git ssh://***@h https://***@h");
  CHECK(redact_credentials("Looking in https://me:p@example.org/simple now") ==
        "Looking in https://***@example.org/simple now");
  CHECK(Url::parse("http://127.0.0.1:5000")->is_loopback());
  CHECK(Url::parse("http://[::1]:5000")->is_loopback());
  CHECK_FALSE(Url::parse("http://127.evil.org")->is_loopback());
  CHECK_FALSE(Url::parse("no url"));
  CHECK(percent_encode("a b/ü") == "a%20b%2F%C3%BC");
}

TEST_CASE("references are resolved as RFC 3986 section 5.4 has it") {
  const std::vector<std::pair<std::string, std::string>> examples{
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g#s", "http://a/b/c/g"},
      {"g?y#s", "http://a/b/c/g?y"},
      {";x", "http://a/b/c/;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"https://h/x#s", "https://h/x"},
  };
  for (const auto& [reference, url] : examples) {
    const auto& shown = reference;  // clang 14 captures no binding
    CAPTURE(shown);
    CHECK(resolve_url("http://a/b/c/d;p?q", reference) == url);
  }
  CHECK(resolve_url("https://[::1]:8443", "x") == "https://[::1]:8443/x");
  CHECK(resolve_url("file:///a/b", "c") == "file:///a/c");
  CHECK_FALSE(resolve_url("no url", "x"));
  CHECK_FALSE(resolve_url("http://a/", "mailto:me@a"));
  CHECK_FALSE(resolve_url("http://a/", "//:x"));
}

TEST_CASE("files are written whole") {
  const auto directory = std::filesystem::temp_directory_path() / "autopack-base-test";
  std::filesystem::remove_all(directory);
  write_file(directory / "a" / "b", "text");
  CHECK(read_file(directory / "a" / "b") == "text");
  write_file(directory / "s", "secret", FileMode::secret);
  CHECK((std::filesystem::status(directory / "s").permissions() & std::filesystem::perms::all) ==
        std::filesystem::perms{0600});
  CHECK_FALSE(read_file_if_exists(directory / "none"));
  CHECK_THROWS_AS(read_file(directory / "none"), Error);
  std::filesystem::remove_all(directory);
}

TEST_CASE("an error converts to problems") {
  const auto own = Error{ErrorKind::remote, "m"}.cause("a").cause("b").hint("h").as_problems();
  REQUIRE(own.size() == 1);
  CHECK(own[0].severity == Problem::Severity::error);
  CHECK(own[0].text() == "m: a: b");
  CHECK(own[0].hints == std::vector<std::string>{"h"});
  const Problems several{{.message = "one"}, {.message = "two", .reason = "why"}};
  const Error error{ErrorKind::usage, several};
  CHECK(error.as_problems().size() == 2);
  CHECK(error.message() == "one\ntwo: why");
}

TEST_CASE("an error contains all findings of a check") {
  const Problems problems{{.message = "one", .origin = "`--a`", .hints = {"h"}},
                          {.severity = Problem::Severity::warning, .message = "no"},
                          {.message = "two", .hints = {"h"}}};
  try {
    throw_if_errors(problems, ErrorKind::usage);
    FAIL("did not throw");
  } catch (const Error& error) {
    CHECK(error.message() == "one (`--a`)\ntwo");
    CHECK(error.hints() == std::vector<std::string>{"h"});
    CHECK(exit_status(error.kind()) == 2);
  }
  try {
    with_context("outer", [] { throw Error(ErrorKind::remote, "inner"); });
    FAIL("did not throw");
  } catch (const Error& error) {
    CHECK(error.message() == "outer");
    CHECK(error.causes() == std::vector<std::string>{"inner"});
  }
}

}  // namespace autopack::base_test
