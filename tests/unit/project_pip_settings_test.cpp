#include "base/error.hpp"
#include "base/file.hpp"
#include "base/netrc.hpp"
#include "project/requirements/pip_settings.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace autopack::project_pip_settings_test {

using namespace autopack::project;

namespace {

/// A separate machine: a home, an /etc, and nothing else.
class Machine {
public:
  Machine() { variables["HOME"] = (directory_.path() / "home").string(); }

  std::string write(const std::string& path, const std::string& text) const {
    write_file(directory_.path() / path, text);
    return (directory_.path() / path).string();
  }

  PipSettings find(const std::vector<std::string>& hosts = {},
                   const std::vector<std::string>& names = {}) const {
    return find_pip_settings(Environment{variables}, hosts, names, directory_.path() / "etc");
  }

  std::string configuration() const {
    const auto settings = find();
    return settings.files.contains("pip.conf") ? settings.files.at("pip.conf").reveal() : "";
  }

  std::map<std::string, std::string, std::less<>> variables;

private:
  TemporaryDirectory directory_;
};

}  // namespace

TEST_CASE("a machine without settings gives none") {
  const Machine machine;
  const auto settings = machine.find();
  CHECK(settings.files.empty());
  CHECK_FALSE(settings.description);
  CHECK_FALSE(settings.has_credentials);
}

TEST_CASE("pip's files and variables are merged as pip does") {
  Machine machine;
  machine.write("etc/pip.conf", "[global]\nindex-url = https://etc/\ntimeout = 5\nquiet = 1\n");
  CHECK(machine.configuration() == "[global]\nindex-url = https://etc/\ntimeout = 5\n");
  machine.write("home/.pip/pip.conf", "[global]\nindex_url: https://legacy/\n");
  machine.write("home/.config/pip/pip.conf", "[global]\nindex-url = https://user/\n");
  CHECK(machine.configuration() == "[global]\nindex-url = https://user/\ntimeout = 5\n");
  machine.write("etc/xdg/pip/pip.conf", "[install]\nindex-url = https://install/\n");
  CHECK(machine.configuration() == "[global]\nindex-url = https://install/\ntimeout = 5\n");
  machine.variables["PIP_CONFIG_FILE"] =
      machine.write("own.conf", "[install]\nindex-url = https://own/\n");
  CHECK(machine.configuration() == "[global]\nindex-url = https://own/\ntimeout = 5\n");
  machine.variables["PIP_INDEX_URL"] = "https://variable/";
  machine.variables["PIP_DEFAULT_TIMEOUT"] = "180";
  machine.variables["PIP_DISABLE_PIP_VERSION_CHECK"] = "1";
  CHECK(machine.configuration() == "[global]\nindex-url = https://variable/\ntimeout = 180\n");
  machine.variables["PIP_CONFIG_FILE"] = "/dev/null";
  machine.variables.erase("PIP_INDEX_URL");
  CHECK(machine.configuration() == "[global]\ntimeout = 180\n");
}

TEST_CASE("lists keep all their words, and local directories stay behind") {
  Machine machine;
  machine.variables["PIP_EXTRA_INDEX_URL"] = "https://a/ https://b/";
  machine.variables["PIP_FIND_LINKS"] = "/opt/wheels https://links/ file:///x";
  CHECK(
      machine.configuration() ==
      "[global]\nextra-index-url =\n    https://a/\n    https://b/\nfind-links = https://links/\n");
  CHECK(
      machine.find().description ==
      "pip settings: extra-index-url https://a/ https://b/, find-links https://links/; find-links "
      "`/opt/wheels` left out, as a build cannot reach it; find-links `file:///x` left out, as a "
      "build cannot reach it");
  machine.variables = {{"HOME", "/nowhere"}, {"PIP_FIND_LINKS", "/opt/wheels"}};
  CHECK(machine.find().files.empty());
}

TEST_CASE("credentials are noticed and never described") {
  Machine machine;
  machine.variables["PIP_INDEX_URL"] = "https://me:hunter2@host/simple";
  const auto settings = machine.find();
  CHECK(settings.has_credentials);
  CHECK(settings.description == "pip settings: index-url https://host/simple");
  CHECK(settings.files.at("pip.conf").reveal().find("hunter2") != std::string::npos);
  CHECK(settings.files.at("environment").reveal() ==
        "export PIP_CONFIG_FILE=/var/cache/autopack/pip.conf\n");
}

TEST_CASE("certificates travel by content") {
  Machine machine;
  machine.variables["PIP_CERT"] = machine.write("ca.pem", "CA");
  auto settings = machine.find();
  CHECK(settings.files.at("cert.pem").reveal() == "CA");
  CHECK(settings.files.at("pip.conf").reveal() ==
        "[global]\ncert = /var/cache/autopack/cert.pem\n");
  CHECK_FALSE(settings.has_credentials);
  machine.variables["PIP_CLIENT_CERT"] = machine.write("me.pem", "KEY");
  settings = machine.find();
  CHECK(settings.files.at("client-cert.pem").reveal() == "KEY");
  CHECK(settings.has_credentials);
  machine.variables["PIP_CERT"] = "/nowhere.pem";
  CHECK_THROWS_WITH_AS(machine.find(), "could not read pip's `cert`", Error);
}

TEST_CASE("netrc entries of the index hosts come along, others do not") {
  Machine machine;
  machine.write("home/.netrc",
                "machine other login a password b\n"
                "machine INDEX.corp\n  login me\n  password hunter2\n"
                "default login c password d\n");
  CHECK(machine.find().files.empty());
  machine.variables["PIP_INDEX_URL"] = "https://index.corp/simple";
  const auto settings = machine.find();
  CHECK(settings.files.at("netrc").reveal() == "machine INDEX.corp login me password hunter2\n");
  CHECK(settings.has_credentials);
  CHECK(settings.description.value().find("hunter2") == std::string::npos);
  CHECK(
      settings.files.at("environment").reveal().find("export NETRC=/var/cache/autopack/netrc\n") !=
      std::string::npos);
  CHECK(machine.find({"other"}).files.at("netrc").reveal().find(
            "machine other login a password b\n") == 0);
  machine.variables["NETRC"] = machine.write("own", "machine index.corp login x password y");
  CHECK(machine.find().files.at("netrc").reveal() == "machine index.corp login x password y\n");
}

TEST_CASE("netrc is read with comments, macros and quotes") {
  const std::string text =
      "# machine host login no password no\n"
      "macdef init\nmachine host login no\n\n"
      "machine host login \"a b\" password \"q\\\"x\" account z\n"
      "machine host2 login l";
  CHECK(netrc_entries(text, {"host"}) ==
        "machine host login \"a b\" password \"q\\\"x\" account z\n");
  CHECK(netrc_entries(text, {"host2"}) == "machine host2 login l\n");
  CHECK(netrc_entries("machine", {""}) == "machine \n");
  CHECK(netrc_entries("machine h login \"", {"h"}) == "machine h\n");
  CHECK(netrc_entries("machine h login l password \"p\n\n", {"h"}) == "machine h login l\n");
}

TEST_CASE("variables that requirement files name are given when they are set") {
  Machine machine;
  machine.variables["TOKEN"] = "it's secret";
  const auto settings = machine.find({}, {"TOKEN", "UNSET"});
  CHECK(settings.files.at("environment").reveal() == "export TOKEN='it'\"'\"'s secret'\n");
  CHECK(settings.has_credentials);
  CHECK(settings.description == "pip settings: the variable `TOKEN`");
}

TEST_CASE("a proxy of several lines becomes no section of the settings") {
  const Machine machine;
  machine.write("etc/pip.conf", "[global]\nproxy = http\n  [install]\n  retries = 3\n");
  CHECK(machine.configuration() == "[global]\nproxy = http\n    [install]\n    retries = 3\n");
}

TEST_CASE("constraints travel as files, and pip reads them") {
  PipSettings settings;
  add_constraints(settings, {});
  CHECK(settings.files.empty());
  add_constraints(settings, {{.name = "c.txt", .text = "numpy<2\n"},
                             {.name = "https://u:p@host/c.txt", .is_url = true}});
  CHECK(settings.files.at("constraints-1.txt").reveal() == "numpy<2\n");
  CHECK(settings.files.at("environment").reveal() ==
        "export PIP_CONSTRAINT='/var/cache/autopack/constraints-1.txt https://u:p@host/c.txt'\n");
  CHECK(settings.has_credentials);
}

}  // namespace autopack::project_pip_settings_test
