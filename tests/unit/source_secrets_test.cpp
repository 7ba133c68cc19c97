#include "base/error.hpp"
#include "base/text.hpp"
#include "source/secrets.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::source_secrets_test {

using source::FoundSecret;
using source::SecretScan;

namespace {

/// Returns `size` characters that look random; generated so that no text of this file is a secret.
std::string noise(std::size_t size,
                  const std::string& alphabet =
                      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") {
  std::string text;
  for (std::uint32_t state = 1; text.size() < size;) {
    state = state * 1103515245U + 12345U;
    text += alphabet[(state >> 16U) % alphabet.size()];
  }
  return text;
}

const std::string upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

std::string pem(const std::string& name, const std::string& line_end) {
  std::string text = "-----BEGIN " + name + "-----" + line_end;
  for (int i = 0; i < 3; ++i) {
    text += noise(64) + line_end;
  }
  return text + "-----END " + name + "-----" + line_end;
}

const std::string key_name = "RSA PRIVATE " + std::string{"KEY"};

std::vector<FoundSecret> scan(const std::string& path, const std::string& text) {
  return source::find_secrets(source::MemoryTree{{path, text}}, path);
}

/// Returns kinds with their lines: `private-key:1 netrc-login:3`.
std::string found(const std::string& path, const std::string& text) {
  std::vector<std::string> all;
  for (const auto& secret : scan(path, text)) {
    all.push_back(secret.kind + ":" + std::to_string(secret.line));
  }
  return join(all, " ");
}

std::string found(const std::string& text) {
  return found("a.py", text);
}

}  // namespace

TEST_CASE("tokens are found by their kind, with the line") {
  struct Case {
    const char* kind;
    std::string secret;
  };

  const std::vector<Case> cases{
      {"github-token", "ghp" + ("_" + noise(36))},
      {"github-token", "gho" + ("_" + noise(36))},
      {"github-token", "ghu" + ("_" + noise(36))},
      {"github-token", "ghs" + ("_" + noise(36))},
      {"github-token", "ghr" + ("_" + noise(76))},
      {"github-token", "github" + ("_pat_" + noise(82))},
      {"gitlab-token", "glpat" + ("-" + noise(20))},
      {"pypi-token", "pypi" + ("-AgEIcHlwaS5vcmc" + noise(80))},
      {"npm-token", "npm" + ("_" + noise(36))},
      {"docker-token", "dckr" + ("_pat_" + noise(27))},
      {"slack-token", "xoxb" + ("-1234567890-" + noise(24))},
      {"slack-token", "xoxp" + ("-1234567890-" + noise(24))},
      {"slack-token", "xoxa" + ("-1234567890-" + noise(24))},
      {"slack-token", "xoxr" + ("-1234567890-" + noise(24))},
      {"slack-token", "xoxs" + ("-1234567890-" + noise(24))},
      {"hugging-face-token", "hf" + ("_" + noise(34))},
      {"model-api-key", "sk-ant" + ("-api03-" + noise(80))},
      {"model-api-key", "sk-proj" + ("-" + noise(80))},
      {"model-api-key", "sk-" + noise(20) + "T3Blbk" + "FJ" + noise(20)},
      {"stripe-key", "sk" + ("_live_" + noise(24))},
      {"stripe-key", "rk" + ("_live_" + noise(24))},
      {"google-api-key", "AI" + ("za" + noise(35))},
      {"google-client-secret", "GOC" + ("SPX-" + noise(28))},
      {"google-token", "ya2" + ("9." + noise(60))},
      {"google-token", "1/" + ("/0" + noise(60))},
      {"aws-access-key", "AK" + ("IA" + noise(16, upper))},
      {"aws-access-key", "AS" + ("IA" + noise(16, upper))},
      {"aws-secret-key", "aws_secret_access_key = " + noise(40)},
      {"aws-secret-key", "export AWS_SECRET_ACCESS_KEY='" + noise(40) + "'"},
      {"aws-secret-key", R"("SecretAccessKey": ")" + noise(40) + "\""},
      {"azure-key", "AccountKey=" + noise(86) + "=="},
      {"docker-login", R"("auth": ")" + base64_encode("me:" + noise(9)) + "\""},
      {"docker-login", R"("identitytoken": ")" + noise(40) + "\""},
      {"kube-credentials", "client-key-data: " + noise(120)},
      {"private-key", pem(key_name, "\n")},
      {"private-key", pem("PRIVATE " + std::string{"KEY"}, "\\n")},
      {"private-key", "-----BEGIN " + key_name + "-----\n" + noise(64) + "\n-----END"},
      {"private-key", pem("OPENSSH PRIVATE " + std::string{"KEY"}, "\r\n")},
      {"private-key", pem("PGP PRIVATE " + std::string{"KEY BLOCK"}, "\n")},
      {"private-key",
       "PuTTY-User-Key-File" + ("-3: ssh-rsa\nPrivate-Lines: 1\n" + noise(64) + "\n")},
  };

  for (const auto& [kind, secret] : cases) {
    const auto& shown = kind;
    CAPTURE(shown);
    const std::string expected = std::string{kind} + ":2";
    CHECK(found("first = 1\nx = \"" + secret + "\"\n") == expected);
    CHECK(found("first\n" + secret) == expected);
    CHECK(source::secret_in_words(kind) != kind);
  }
}

TEST_CASE("text that only looks like a token is ignored") {
  const std::vector<std::string> quiet{
      "ghp_" + noise(20),                                // too short
      "xghp_" + noise(36),                               // in the middle of a word
      "npm_" + noise(50),                                // too long
      "ghp_" + std::string(36, 'x'),                     // from documentation
      "AKIA" + std::string("IOSFODNN7EXAMPLE"),          // AWS's own
      "AKIA" + noise(16, "abcdefghijklm"),               // lower case
      "AIza" + noise(60),                                // base64 that continues
      "hf_" + std::string("hub_download_of_something"),  // a name
      "data:image/png;base64," + noise(40) + "/1/" + "/0" + noise(60) + "+" + noise(40),
      "aws_secret_access_key = os.environ['AWS_SECRET_ACCESS_KEY']",
      "aws_secret_access_key=" + std::string(40, '*'),
      R"("auth": "basic")",
      R"("auth": "")",
      "client-key-data: ${KEY}",
      "-----BEGIN " + key_name + "-----",
      "if text.startswith('-----BEGIN " + key_name + "-----'):\n  raise ValueError(text)",
      "-----BEGIN " + key_name + "-----\n...\n-----END " + key_name + "-----",
      "-----BEGIN " + key_name + "----- and then the words of a long sentence follow it",
      "-----BEGIN " + key_name + "-----\nfoo\n-----END " + key_name + "-----\n",
      "-----BEGIN " + key_name + "-----\n" + noise(40) + "\n-----END " + key_name + "-----\n",
      R"({"type": "service_account", "private_key": "-----BEGIN )" + key_name +
          R"(-----\nfake\n-----END )" + key_name + R"(-----\n"})",
      "-----BEGIN CERTIFICATE-----\n" + noise(64) + "\n" + noise(64),
      "-----BEGIN PUBLIC KEY-----\n" + noise(64),
      R"("refresh_token": ")" + noise(60) + "\"",  // without its client's secret
      noise(100000, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
  };
  for (const auto& text : quiet) {
    CAPTURE(text.substr(0, 120));
    CHECK(found(text) == "");
  }
}

TEST_CASE("kinds of Google credentials are distinguished") {
  const std::string key = pem("PRIVATE " + std::string{"KEY"}, "\\n");
  CHECK(found("k.json", "{\n\"type\": \"service_account\",\n\"private_key\": \"" + key + "\"\n}") ==
        "service-account-key:3");
  CHECK(found("k.json", "{\"private_key\": \"" + key + "\", \"type\": \"service_account\"}") ==
        "service-account-key:1");
  CHECK(found("k.json", "{\n\"key\": \"" + key + "\"\n}") == "private-key:2");
  CHECK(found("adc.json", R"({"client_secret": "d-)" + noise(20) + R"(", "refresh_token": "r-)" +
                              noise(40) + "\"}") == "google-user-credentials:1");
}

TEST_CASE("files known by their names are looked at as a whole") {
  CHECK(found(".env", "# local\nMODE=fast\nA=b\n") == "environment-file:2");
  CHECK(found("a/.env.local", "export TOKEN=abc\n") == "environment-file:1");
  CHECK(found(".env", "# nothing\nEMPTY=\nOTHER=${HOST}\n") == "");
  CHECK(found(".env.example", "TOKEN=abc\n") == "");
  CHECK(found("env", "TOKEN=abc\n") == "");
  CHECK(found(".netrc", "machine a\nlogin b\npassword c\n") == "netrc-login:3");
  CHECK(found(".netrc", "machine a login b\n") == "");
  CHECK(found(".pypirc", "[pypi]\nusername = me\npassword = geheim\n") == "pypi-login:3");
  CHECK(found(".pypirc", "[distutils]\nindex-servers = pypi\n") == "");
  CHECK(found("pip.conf", "[global]\nindex-url = https://me:geheim@host/simple\n") ==
        "index-login:2");
  CHECK(found("pip.conf", "[global]\nindex-url = https://host/simple\n") == "");
  CHECK(found(".git-credentials", "https://me:geheim@host\n") == "git-login:1");
  CHECK(found(".npmrc", "//host/:_authToken=geheim\n") == "npm-token:1");
  CHECK(found(".npmrc", "//host/:_authToken=${NPM_TOKEN}\n") == "");
  CHECK(found(".kube/config", "users:\n- user:\n    token: geheim\n") == "kube-credentials:3");
  CHECK(found("x/.docker/config.json", "{\n\"auths\": {\"h\": {\n\"auth\": \"\"}}}") == "");
  CHECK(found(".dockercfg", "{\"h\": {\n\"auth\": \"" + base64_encode("me:geheim") + "\"}}") ==
        "docker-login:2");
  CHECK(found("kaggle.json", R"({"username":"me","key":"0123456789abcdef"})") == "kaggle-key:1");
  CHECK(found("kaggle.json", R"({"title":"data","key":""})") == "");
  CHECK(found("a.p12", std::string{"\x30\x82\x01\x00\x00", 5}) == "key-store:0");
  CHECK(found("a.p12", "text") == "");
}

TEST_CASE("a login in the URL of an index or of a repository is a secret by its place") {
  const auto url = [](const std::string& login, const std::string& rest) {
    return "https:" + ("//" + login + "@" + rest);
  };
  const std::string index = url("bob:s3cr%3Aet", "127.0.0.1:8080/simple");
  const std::string token = url("build:AKCp8" + noise(68), "acme.jfrog.io/api/pypi/simple");
  CHECK(found("requirements.txt", "einops\n--index-url " + index + "\n") == "index-login:2");
  CHECK(found("reqs/base.txt", "--extra-index-url=" + token + "\n") == "index-login:1");
  CHECK(found("other.txt", "-i " + index + "\n") == "index-login:1");
  CHECK(found("other.txt", "-f " + url("bob:hunter2", "h/links")) == "index-login:1");
  CHECK(found("constraints.txt", "a @ " + url("bob:hunter2", "h/a.whl")) == "index-login:1");
  CHECK(found("pyproject.toml", "[[tool.uv.index]]\nurl = \"" +
                                    url("bob:hunter2hunter2", "pypi.example.com/simple") +
                                    "\"\n") == "index-login:2");
  CHECK(found("pyproject.toml", "[[tool.poetry.source]]\nurl='" + url("bob:hunter2", "h/x") +
                                    "'\n") == "index-login:2");
  CHECK(found("Pipfile", "url = \"" + url("bob:hunter2", "h/x") + "\"") == "index-login:1");
  CHECK(found("environment.yml", "channels:\n- " + url("bob:hunter2", "h/x")) == "index-login:2");
  CHECK(found("setup.cfg", "a @ git+" + url("bob:hunter2", "h/x")) == "git-login:1");
  CHECK(found("train.sh", "pip install git+" + url("bob:hunter2", "h/x")) == "git-login:1");
  CHECK(found("train.sh", "git clone " + url("bob:hunter2", "h/x.git")) == "git-login:1");
  CHECK(found("train.sh", "pip install -i " + index + " x") == "index-login:1");
  CHECK(found("requirements.txt", "-i " + url(noise(40), "h/simple")) == "index-login:1");
  CHECK(found("requirements.txt", "-i " + url(noise(40) + ":", "h/simple")) == "index-login:1");
  CHECK(found("environment.yml", "channels:\n- https://h/t/ab-" + noise(32) + "/me\n") ==
        "index-login:2");
  CHECK(found("environment.yml", "channels:\n- https://h/t/<TOKEN>/me\n- https://h/t/x/y") == "");
  // Documentation has sample logins, but no long tokens.
  CHECK(found("docs/a.md", "pip install -i " + index) == "");
  CHECK(found("docs/a.md", "pip install -i " + token) == "index-login:1");
  // One login is one finding, however often a lock repeats it, and a token has its own kind.
  const std::string lines = "url = \"" + index + "/a.whl\"\nurl = \"" + index + "/b.whl\"\n";
  CHECK(found("uv.lock", lines) == "index-login:1");
  CHECK(found("requirements.txt", "a @ git+" + url("x:ghp" + ("_" + noise(36)), "h/a")) ==
        "github-token:1");
  // Only URLs of packages: a service's login is the program's responsibility.
  CHECK(found("a.py", "proxy = \"" + url("bob:hunter2", "proxy:3128") + "\"") == "");
}

TEST_CASE("text that only looks like a login in a URL is ignored") {
  for (const std::string login :
       {"git", "bob", "oauth2accesstoken", "user:pass", "user:password", "user:$TOKEN",
        "user:${TOKEN}", "${TOKEN}", "{user}:{token}", "%s:%s", "<user>:<token>", "__token__:xxx",
        "user:MY_TOKEN", "TOKEN", "user:{{ token }}", "me:me", "_json_key_base64:your-key"}) {
    CAPTURE(login);
    CHECK(found("requirements.txt", "-i https://" + login + "@h/simple\n") == "");
    CHECK(found("requirements.txt", "a @ git+https://" + login + "@github.com/a/b.git\n") == "");
  }
  CHECK(found("requirements.txt", "-i https://bob:hunter2@example.com/simple\n") == "");
  CHECK(found("requirements.txt", "a @ git+https://h/a@" + noise(40) + "\n") == "");
  CHECK(found("requirements.txt", "a @ git+ssh://git@h:22/a.git\n") == "");
  CHECK(found("requirements.txt", "a @ https://h/a.whl # mail bob:x@h\n") == "");
}

TEST_CASE("a secret is found wherever the pieces end, and in a file of any size") {
  const std::string secret = pem(key_name, "\n");
  const std::string token = "ghp" + ("_" + noise(36));
  std::string text;
  for (int line = 1; line < 3000; ++line) {
    text += "a line of text\n";
  }
  text += secret + token + "\n";
  for (const std::size_t piece : {std::size_t{7}, std::size_t{1000}, std::size_t{4096},
                                  std::size_t{4097}, std::size_t{44990}, text.size()}) {
    CAPTURE(piece);
    SecretScan all{"a", SecretScan::Detail::all};
    SecretScan whether{"a", SecretScan::Detail::whether};
    for (std::size_t at = 0; at < text.size(); at += piece) {
      all.feed(std::string_view{text}.substr(at, piece));
      whether.feed(std::string_view{text}.substr(at, piece));
    }
    const auto secrets = all.finish();
    REQUIRE(secrets.size() == 2);
    CHECK(secrets[0].kind == "private-key");
    CHECK(secrets[0].line == 3000);
    CHECK(secrets[1].kind == "github-token");
    CHECK(secrets[1].line == 3005);
    CHECK(secrets == scan("a", text));
    CHECK(whether.finish().size() == 1);
  }
}

TEST_CASE("a binary file is looked at too, and has no lines") {
  const std::string text = std::string(5, '\0') + "\n" + "ghp" + ("_" + noise(36)) + '\0';
  CHECK(found("model.bin", text) == "github-token:0");
}

TEST_CASE("the fingerprint distinguishes values and does not contain them") {
  const std::string one = "ghp" + ("_" + noise(36));
  const std::string other = "ghp" + ("_" + noise(35) + "0");
  CHECK(scan("a", one)[0].fingerprint == scan("b", "x\n" + one)[0].fingerprint);
  CHECK(scan("a", one)[0].fingerprint != scan("a", other)[0].fingerprint);
  CHECK(scan("a", one)[0].fingerprint.size() == 12);
  CHECK(one.find(scan("a", one)[0].fingerprint) == std::string::npos);
  // For a file recognised by its name it covers the whole: a password alone could be guessed from
  // it.
  CHECK(scan(".netrc", "password a\n#1")[0].fingerprint !=
        scan(".netrc", "password a\n#2")[0].fingerprint);
}

TEST_CASE("allowed is one secret in one file") {
  const auto secret = scan("my dir/a\xff.py", "ghp" + ("_" + noise(36)))[0];
  const std::string line = source::allowing_line(secret);
  const auto allowed = source::read_allowed_secrets("# reviewed\n\n  " + line + "\r\n");
  REQUIRE(allowed.size() == 1);
  CHECK(allowed[0].line == 3);
  CHECK(source::allows(allowed[0], secret));
  for (auto change : {&FoundSecret::path, &FoundSecret::kind, &FoundSecret::fingerprint}) {
    auto changed = secret;
    changed.*change += "0";
    CHECK_FALSE(source::allows(allowed[0], changed));
  }
}

TEST_CASE("lines that allow nothing are refused, all at once") {
  try {
    source::read_allowed_secrets("x y z\n0123456789ab private-key\n0123456789ab private-key a b\n");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(exit_status(error.kind()) == 2);
    REQUIRE(error.problems().size() == 2);
    CHECK(error.problems()[0].origin == ".autopack-allow-secrets:1");
    CHECK(error.problems()[1].origin == ".autopack-allow-secrets:2");
  }
}

TEST_CASE("a file is binary by its beginning, in whatever pieces it is read") {
  const std::string key = "\"AKIAIOSFODNN7EXAMPL3\"\n";
  const std::string bytes = key + std::string(1, '\0') + key;
  SecretScan whole{"a.py", SecretScan::Detail::all};
  whole.feed(bytes);
  SecretScan parts{"a.py", SecretScan::Detail::all};
  for (const char c : bytes) {
    parts.feed({&c, 1});
  }
  const auto found = whole.finish();
  CHECK(found == parts.finish());
  REQUIRE(found.size() == 1);
  CHECK(found[0].line == 0);
}

}  // namespace autopack::source_secrets_test
