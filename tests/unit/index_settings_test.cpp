#include "base/error.hpp"
#include "base/file.hpp"
#include "base/netrc.hpp"
#include "base/text.hpp"
#include "index/access.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <optional>

namespace autopack::index_settings_test {

using namespace autopack::index;

namespace {

/// A separate machine: a home, an /etc, and nothing else.
class Machine {
public:
  Machine() { variables["HOME"] = (directory.path() / "home").string(); }

  Environment environment() const { return Environment{variables}; }

  IndexSettings find(
      const std::optional<std::string>& default_index = "https://default.test/simple") const {
    return find_index_settings(environment(), default_index, directory.path() / "etc");
  }

  TemporaryDirectory directory;
  std::map<std::string, std::string, std::less<>> variables;
};

std::string urls(const std::vector<Location>& places) {
  std::vector<std::string> all;
  for (const auto& place : places) {
    all.push_back(place.url);
  }
  return join(all, " ");
}

std::string login(const Logins& logins, const std::string& url) {
  const auto found = logins.find(*Url::parse(url));
  return found ? *base64_decode(found->reveal().substr(6)) : "";
}

}  // namespace

TEST_CASE("indexes are those of pip's files and variables, else the default") {
  Machine machine;
  CHECK(urls(machine.find().indexes) == "https://default.test/simple");
  CHECK(machine.find(std::nullopt).indexes.empty());
  machine.variables["PIP_EXTRA_INDEX_URL"] = "https://a.test/ https://b.test/";
  CHECK(urls(machine.find().indexes) ==
        "https://default.test/simple https://a.test/ https://b.test/");
  machine.variables["PIP_INDEX_URL"] = "https://me:pass@main.test:8443/simple?x=y";
  const auto settings = machine.find();
  CHECK(settings.indexes[0].url == "https://main.test:8443/simple?x=y");
  CHECK(settings.indexes[0].user == "me");
  CHECK(settings.indexes[0].password->reveal() == "pass");
  CHECK(settings.timeout == std::chrono::seconds{15});
  CHECK(settings.retries == 5);
  machine.variables["PIP_NO_INDEX"] = "1";
  CHECK(machine.find().indexes.empty());
}

TEST_CASE("the other options are read as pip reads them") {
  Machine machine;
  write_file(machine.directory.path() / "etc" / "pip.conf",
             "[global]\ntimeout = 2.5\nretries = 0\ntrusted-host =\n  A.test\n  b.test:8080\n"
             "cert = /ca.pem\nproxy = http://p:3128\nclient-cert = /me.pem\nno-index = off\n");
  const auto home = machine.directory.path() / "home";
  write_file(home / ".netrc", "machine a.test login me password pass\n");
  std::filesystem::create_directories(home / "wheels");
  machine.variables["PIP_FIND_LINKS"] = "~/wheels ~/nowhere https://l.test/x";
  const auto settings = machine.find();
  CHECK(settings.timeout == std::chrono::seconds{3});
  CHECK(settings.retries == 0);
  CHECK(settings.trusted_hosts == std::vector<std::string>{"a.test", "b.test:8080"});
  CHECK(settings.certificates == "/ca.pem");
  CHECK(settings.client_certificate == "/me.pem");
  CHECK(settings.proxy->reveal() == "http://p:3128");
  CHECK_FALSE(settings.no_index);
  CHECK(urls(settings.find_links) == (home / "wheels").string() + " ~/nowhere https://l.test/x");
  CHECK(settings.netrc.value().reveal() == "machine a.test login me password pass\n");
  for (const auto* const value : {"soon", "-1", "1x", "1.x"}) {
    CAPTURE(value);
    machine.variables["PIP_TIMEOUT"] = value;
    CHECK_THROWS_AS(machine.find(), Error);
  }
  machine.variables.erase("PIP_TIMEOUT");
  machine.variables["PIP_NO_INDEX"] = "perhaps";
  CHECK_THROWS_WITH_AS(machine.find(), "pip's option `no-index` is `perhaps`", Error);
}

TEST_CASE("lines of a requirements file change the settings as with pip") {
  Machine machine;
  machine.variables["PIP_EXTRA_INDEX_URL"] = "https://extra.test/";
  machine.variables["TOKEN"] = "t0k3n";
  const auto project = machine.directory.path() / "project";
  std::filesystem::create_directories(project / "wheels");
  auto settings = machine.find();
  const auto add = [&](const std::vector<std::pair<std::string, std::string>>& options) {
    add_line_options(settings, options, project, machine.environment());
  };
  add({{"--extra-index-url", "https://${TOKEN}:@line.test/${UNSET}"}});
  CHECK(urls(settings.indexes) ==
        "https://default.test/simple https://extra.test/ https://line.test/${UNSET}");
  CHECK(settings.indexes[2].user == "t0k3n");
  add({{"--extra-index-url", "https://c.test/"}, {"--index-url", "https://only.test/"}});
  CHECK(urls(settings.indexes) == "https://only.test/ https://c.test/");
  add({{"--find-links", "wheels"}, {"--find-links", "forgotten"}});
  add({{"--find-links", "elsewhere"}, {"--trusted-host", "H.test"}, {"--pre", ""}});
  CHECK(urls(settings.find_links) == (project / "wheels").string() + " elsewhere");
  CHECK(settings.trusted_hosts == std::vector<std::string>{"h.test"});
  add({{"--index-url", "https://late.test/"}, {"--no-index", ""}});
  CHECK(settings.no_index);
  CHECK(settings.indexes.empty());
}

TEST_CASE("a login is that of the URL, of the index, of netrc, then Google's") {
  IndexSettings settings;
  settings.indexes = {Location::parse("https://a:1@h.test/one/simple"),
                      Location::parse("https://b:2@h.test/two/simple"),
                      Location::parse("https://token@h2.test/simple"),
                      Location::parse("https://token@h3.test/simple"),
                      Location::parse("http://plain.test/simple"),
                      Location::parse("https://europe-python.pkg.dev/p/r/simple")};
  settings.trusted_hosts = {"trusted.test:8080"};
  settings.netrc = Secret{
      "machine h2.test login n password 3 machine other.test login o password 4 "
      "machine plain.test login p password 5 machine trusted.test login t password 6"};
  int asked = 0;
  const Logins logins{settings, [&]() -> std::optional<Secret> {
                        ++asked;
                        return Secret{"ya29"};
                      }};
  const std::vector<std::pair<std::string, std::string>> expected{
      {"https://u:p@h.test/one/simple/x/", "u:p"},
      {"https://h.test/one/files/x.whl", "a:1"},
      {"https://h.test/two/simple/x/", "b:2"},
      {"https://h.test:443/two/x.whl", "b:2"},
      {"https://h.test:8443/two/x.whl", ""},
      {"http://h.test/two/x.whl", ""},
      {"https://h2.test/simple/x/", "n:3"},
      {"https://h3.test/simple/x/", "token:"},
      {"https://other.test/f", "o:4"},
      {"http://other.test/f", ""},
      {"http://plain.test:8080/f", "p:5"},
      {"http://trusted.test/f", "t:6"},
      {"https://nobody.test/f", ""},
      {"https://europe-python.pkg.dev/p/r/simple/x/", "oauth2accesstoken:ya29"},
  };
  for (const auto& [url, meant] : expected) {
    const auto& shown = url;  // clang 14 captures no binding
    CAPTURE(shown);
    CHECK(login(logins, url) == meant);
  }
  CHECK(asked == 1);
  // Neither over plain HTTP, nor for links of a page.
  CHECK(login(logins, "http://europe-python.pkg.dev/p/r/x.whl").empty());
  CHECK(login(logins, "https://us-python.pkg.dev/p/r/x.whl").empty());
  CHECK(login(logins, "https://europe-python.pkg.dev.evil.test/x.whl").empty());
  CHECK(asked == 1);
}

TEST_CASE("a login of netrc is that of its host, quotes and backslashes taken away") {
  const std::string text =
      "machine a.test login \"a \\\"b\" password p\\\\w\n"
      "default login d password d\n"
      "machine B.test\n login b # the user\n password \"x\ny\" account z\n"
      "machine c.test login c\nmachine c.test password p login later\n";
  const auto check = [&](const char* host, const std::string& user, const std::string& password) {
    CAPTURE(host);
    const auto found = netrc_login(text, host);
    REQUIRE(found);
    CHECK(found->user == user);
    CHECK(found->password.reveal() == password);
  };
  check("a.test", "a \"b", "p\\w");
  check("b.test", "b", "x\ny");
  check("c.test", "later", "p");
  CHECK_FALSE(netrc_login(text, "d.test"));
  CHECK_FALSE(netrc_login("", "a.test"));
}

}  // namespace autopack::index_settings_test
