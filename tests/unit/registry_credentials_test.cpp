#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "registry/certificates.hpp"
#include "registry/credentials.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace autopack::registry_credentials_test {

using namespace autopack::registry;

namespace {

namespace fs = std::filesystem;

/// A home directory with a Docker configuration and helpers on PATH.
struct Home {
  fs::path path{fs::temp_directory_path() / fmt::format("autopack-home-{}", ::getpid())};
  std::map<std::string, std::string, std::less<>> variables{};

  Home() {
    fs::remove_all(path);
    fs::create_directories(path / "bin");
    variables["HOME"] = path.string();
    variables["PATH"] = (path / "bin").string() + ":/usr/bin:/bin";
  }

  ~Home() { fs::remove_all(path); }

  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  void config(std::string_view text) const { write_file(path / ".docker" / "config.json", text); }

  void helper(const std::string& name, const std::string& script) const {
    const fs::path file = path / "bin" / ("docker-credential-" + name);
    write_file(file, "#!/bin/sh\n" + script);
    fs::permissions(file, fs::perms{0755});
  }

  CredentialSource source() const { return make_docker_credentials(Environment{variables}); }
};

std::string everything(const Error& error) {
  return error.message() + "\n" + join(error.causes(), "\n") + "\n" + join(error.hints(), "\n");
}

}  // namespace

TEST_CASE("auths are found under every key Docker ever wrote") {
  const Home home;
  const std::string auth = base64_encode("me:pa:ss");
  home.config(R"({"auths": {
    "plain.example": {"auth": ")" +
              auth + R"("},
    "https://old.example/v1/": {"auth": ")" +
              auth + R"("},
    "http://slash.example:5000/": {"username": "u", "password": "p"},
    "https://index.docker.io/v1/": {"auth": ")" +
              auth + R"("},
    "token.example": {"auth": ")" +
              base64_encode("<token>:") + R"(", "identitytoken": "refresh"},
    "bearer.example": {"registrytoken": "bear"},
    "space.example/team": {"auth": ")" +
              auth + R"("},
    "empty.example": {}
  }})");
  const auto source = home.source();
  const auto plain = source("plain.example");
  REQUIRE(plain);
  CHECK(plain->username == "me");
  CHECK(plain->password.reveal() == "pa:ss");
  CHECK(plain->origin == "`~/.docker/config.json`");
  CHECK(source("old.example")->username == "me");
  CHECK(source("slash.example:5000")->password.reveal() == "p");
  CHECK(source("docker.io")->username == "me");
  CHECK(source("index.docker.io")->username == "me");
  CHECK(source("token.example")->identity_token.reveal() == "refresh");
  CHECK(source("token.example")->username.empty());
  CHECK(source("bearer.example")->registry_token.reveal() == "bear");
  CHECK(source("space.example")->username == "me");
  CHECK_FALSE(source("empty.example"));
  CHECK_FALSE(source("none.example"));
}

TEST_CASE("without a configuration there is no login") {
  const Home home;
  CHECK_FALSE(home.source()("docker.io"));
}

TEST_CASE("a helper of the host comes before the store, the store before the file") {
  const Home home;
  home.config(R"({"credHelpers": {"a.example": "one"}, "credsStore": "two", "auths": {
    "c.example": {"auth": ")" +
              base64_encode("file:f") + R"("}}})");
  home.helper("one", R"(read host; echo "$1 $host" >>)" + (home.path / "log").string() + R"(
echo '{"Username": "_dcgcloud_token", "Secret": "ya29"}')");
  home.helper("two", R"(read host
case $host in
  https://index.docker.io/v1/) echo '{"ServerURL": "x", "Username": "<token>", "Secret": "idt"}' ;;
  *) echo 'credentials not found in native keychain'; exit 1 ;;
esac)");
  const auto source = home.source();
  CHECK(source("a.example")->username == "_dcgcloud_token");
  CHECK(source("a.example")->password.reveal() == "ya29");
  CHECK(source("a.example")->origin == "helper `one`");
  CHECK(read_file(home.path / "log") == "get a.example\n");
  CHECK(source("docker.io")->identity_token.reveal() == "idt");
  CHECK_FALSE(source("b.example"));
  CHECK(source("c.example")->username == "file");
}

TEST_CASE("DOCKER_AUTH_CONFIG comes first, the file after it") {
  Home home;
  home.config(R"({"auths": {"a.example": {"username": "file", "password": "f"},
                            "b.example": {"username": "file", "password": "f"}}})");
  home.variables["DOCKER_AUTH_CONFIG"] =
      R"({"auths": {"a.example": {"auth": ")" + base64_encode("variable:v") + R"("}}})";
  const auto source = home.source();
  CHECK(source("a.example")->username == "variable");
  CHECK(source("a.example")->origin == "`DOCKER_AUTH_CONFIG`");
  CHECK(source("b.example")->username == "file");
}

TEST_CASE("a helper that fails is named with its reason, without secrets") {
  const Home home;
  const std::string secret = "ya29.A0ARrdaM8x7Q1234567890abcdefghijk";
  home.config(R"({"credHelpers": {"a.example": "bad", "b.example": "none", "c.example": "../x",
                                  "d.example": "mute", "e.example": "words"}})");
  home.helper("bad", "echo 'ERROR: cannot refresh: password=hunter2 " + secret +
                         " https://u:pw@x/' >&2; echo '{\"Secret\": \"leak\"}'; exit 3");
  home.helper("mute", "exit 1");
  home.helper("words", "echo words");
  const auto source = home.source();
  const auto fails = [&](const std::string& host) {
    try {
      source(host);
    } catch (const Error& error) {
      return everything(error);
    }
    return std::string{"no error"};
  };
  const std::string bad = fails("a.example");
  CHECK(bad.starts_with(
      "the credential helper `docker-credential-bad` has no login for `a.example`: exit status 3\n"
      "ERROR: cannot refresh: password=*** *** https://***@x/\n"));
  for (const auto& word :
       {std::string{"hunter2"}, secret, std::string{"leak"}, std::string{":pw"}}) {
    CHECK(bad.find(word) == std::string::npos);
  }
  CHECK(fails("b.example")
            .starts_with("the credential helper `docker-credential-none` is not on PATH\n"
                         "`~/.docker/config.json` names it for `b.example`\n"));
  CHECK(fails("c.example").starts_with("`../x` is not the name of a credential helper"));
  CHECK(fails("d.example").find("it printed no reason") != std::string::npos);
  CHECK(fails("e.example").find("did not print JSON") != std::string::npos);
}

TEST_CASE("configurations that cannot be used are refused by name") {
  const Home home;
  home.config("{");
  CHECK_THROWS_WITH_AS(home.source()("a.example"), "`~/.docker/config.json` is not a JSON object",
                       Error);
  home.config(R"({"auths": {"a.example": {"auth": "bm9jb2xvbg=="}}})");
  CHECK_THROWS_WITH_AS(
      home.source()("a.example"),
      "`auth` of `a.example` in `~/.docker/config.json` is not base64 of `USER:PASSWORD`", Error);
}

TEST_CASE("a helper's answer is kept until a registry refuses it") {
  const Home home;
  home.config(R"({"credHelpers": {"one.example": "counting"}})");
  home.helper("counting",
              "echo x >>\"$HOME/count\"\n"
              "echo '{\"Username\":\"me\",\"Secret\":\"pw\"}'\n");
  const auto source = home.source();
  const auto login = source("one.example");
  REQUIRE(login);
  source("one.example");
  CHECK(read_file(home.path / "count") == "x\n");
  login->forget();
  source("one.example");
  CHECK(read_file(home.path / "count") == "x\nx\n");
}

TEST_CASE("podman's logins are found where podman looks for them") {
  Home home;
  const auto write = [&](const std::string& path, const std::string& user) {
    write_file(home.path / path,
               R"({"auths": {"one.example": {"auth": ")" + base64_encode(user + ":pw") + R"("}}})");
  };
  const auto user = [&] {
    const auto login = make_podman_credentials(Environment{home.variables})("one.example");
    return login ? login->username : "";
  };
  CHECK(user().empty());
  write(".config/containers/auth.json", "lasting");
  CHECK(user() == "lasting");
  home.variables["XDG_RUNTIME_DIR"] = (home.path / "run").string();
  CHECK(user() == "lasting");
  write("run/containers/auth.json", "session");
  CHECK(user() == "session");
  write("named.json", "named");
  home.variables["REGISTRY_AUTH_FILE"] = (home.path / "named.json").string();
  CHECK(user() == "named");
  CHECK(make_podman_credentials(Environment{home.variables})("one.example")->origin ==
        "`~/named.json`");
}

TEST_CASE("a registry's certificates are found where Docker keeps them") {
  const Home home;
  const fs::path of_host = home.path / ".config" / "docker" / "certs.d" / "one.example:5000";
  const auto directories = certificate_directories(Environment{home.variables});
  const auto find = [&](const std::string& host) { return find_certificates(directories, host); };
  CHECK(directories.front() == "/etc/docker/certs.d");
  CHECK(find("one.example:5000").ca_file.empty());
  write_file(of_host / "ca.crt", "authority");
  CHECK(find("one.example:5000").ca_file == of_host / "ca.crt");
  CHECK(find("one.example:5000").certificate_file.empty());
  CHECK(find("one.example").ca_file.empty());
  CHECK(find("../certs.d/one.example:5000").ca_file.empty());
  CHECK(find("..").ca_file.empty());
  write_file(of_host / "client.cert", "certificate");
  CHECK_THROWS_WITH_AS(
      find("one.example:5000"),
      ("the certificate `" + (of_host / "client.cert").string() + "` has no key beside it").c_str(),
      Error);
  write_file(of_host / "client.key", "key");
  CHECK(find("one.example:5000").key_file == of_host / "client.key");
}

TEST_CASE("first_of asks in order") {
  const CredentialSource none = [](const std::string&) { return std::nullopt; };
  const CredentialSource some = [](const std::string& host) {
    return std::optional{Credential{.username = host}};
  };
  CHECK(first_of({none, some})("h")->username == "h");
  CHECK_FALSE(first_of({none})("h"));
}

TEST_CASE("X-Registry-Auth is padded base64 of what the engine reads") {
  CHECK(to_registry_auth(std::nullopt, "a.example").reveal() == "e30=");
  for (const std::string name : {"a", "ab", "abc"}) {
    const auto text =
        to_registry_auth(Credential{.username = name, .password = Secret{"p\xc3\xbf?>"}},
                         "docker.io")
            .reveal();
    CHECK(text.size() % 4 == 0);
    CHECK(text.find_first_of("+/") == std::string::npos);
    const auto fields = autopack::parse_json(base64_decode(text).value());
    CHECK(fields == nlohmann::json{{"username", name},
                                   {"password", "p\xc3\xbf?>"},
                                   {"serveraddress", "https://index.docker.io/v1/"}});
  }
  const auto token = to_registry_auth(Credential{.identity_token = Secret{"r"}}, "a.example");
  CHECK(autopack::parse_json(base64_decode(token.reveal()).value()) ==
        nlohmann::json{{"identitytoken", "r"}, {"serveraddress", "a.example"}});
}

TEST_CASE("a login's entry is read as go-containerregistry reads it") {
  struct Row {
    const char* entry;
    const char* login;  ///< `USER:PASSWORD`, `refused` or `anonymous`
  };

  for (const auto& row : std::vector<Row>{
           {R"({"username":"user","password":"pass"})", "user:pass"},
           {R"({"auth":"dXNlcjpwYXNz"})", "user:pass"},
           {R"({"auth":"dXNlcjpwYXNz","username":"foo","password":"bar"})", "user:pass"},
           {R"({"auth":"dXNlcjpwYXNzd29yZA=="})", "user:password"},
           {R"({"auth":"bad-auth-bad"})", "refused"},
           {R"({"auth":"Zm9vYmFy"})", "refused"},
           {R"({})", "anonymous"},
           // There, a name that is not text is refused.
           {R"({"username":true})", "anonymous"},
       }) {
    CAPTURE(row.entry);
    const Home home;
    home.config(R"({"auths":{"test.io":)" + std::string{row.entry} + "}}");
    std::string shown = "refused";
    try {
      const auto login = home.source()("test.io/my-repo");
      shown = login ? login->username + ":" + login->password.reveal() : "anonymous";
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
    }
    CHECK(shown == row.login);
  }
}

TEST_CASE("files of logins come one after the other as go-containerregistry has them") {
  Home home;
  const auto all = [&] {
    const Environment environment{home.variables};
    const auto source =
        first_of({make_docker_credentials(environment), make_podman_credentials(environment)});
    const auto login = source("test.io");
    return login ? login->username : "anonymous";
  };
  const auto write = [&](const std::string& path, const std::string& user) {
    write_file(home.path / path,
               R"({"auths":{"test.io":{"auth":")" + base64_encode(user + ":pw") + R"("}}})");
  };
  // Each overrides those above it.
  home.variables["REGISTRY_AUTH_FILE"] = "";
  home.variables["XDG_RUNTIME_DIR"] = "";
  home.variables["XDG_CONFIG_HOME"] = "";
  CHECK(all() == "anonymous");
  write(".config/containers/auth.json", "of home's settings");
  CHECK(all() == "of home's settings");
  home.variables["XDG_CONFIG_HOME"] = (home.path / "settings").string();
  write("settings/containers/auth.json", "of the settings");
  CHECK(all() == "of the settings");
  home.variables["XDG_RUNTIME_DIR"] = (home.path / "run").string();
  write("run/containers/auth.json", "of the session");
  CHECK(all() == "of the session");
  home.variables["REGISTRY_AUTH_FILE"] = (home.path / "auth.json").string();
  write("auth.json", "of the named file");
  CHECK(all() == "of the named file");
  write(".docker/config.json", "of docker");
  CHECK(all() == "of docker");
  home.variables["DOCKER_CONFIG"] = (home.path / "docker").string();
  write("docker/config.json", "of the named directory");
  CHECK(all() == "of the named directory");
}

TEST_CASE("a repository's own login comes before the registry's as go-containerregistry has it") {
  // Docker supports only hosts, so its own file means this instead of podman's.
  Home home;
  const auto auth = [](const std::string& user) {
    return R"({"auth":")" + base64_encode(user + ":pw") + R"("})";
  };
  home.variables["REGISTRY_AUTH_FILE"] = (home.path / "auth.json").string();
  const auto shown = [&](const std::string& auths) {
    write_file(home.path / "auth.json", R"({"auths":{)" + auths + "}}");
    const auto login = make_podman_credentials(Environment{home.variables})("test.io/my-repo");
    return login ? login->username : "anonymous";
  };
  CHECK(shown(R"("test.io/my-repo":)" + auth("one") + R"(,"test.io/another-repo":)" + auth("two") +
              R"(,"test.io":)" + auth("three")) == "one");
  CHECK(shown(R"("test.io/another-repo":)" + auth("two") + R"(,"test.io":{})") == "anonymous");
  CHECK(shown(R"("http://test.io/v1/":)" + auth("one")) == "one");
  CHECK(shown(R"("http://test.io/v2/":)" + auth("one")) == "one");
}

}  // namespace autopack::registry_credentials_test
