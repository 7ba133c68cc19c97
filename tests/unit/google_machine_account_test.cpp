#include "support/credentials_fixture.hpp"

#include <filesystem>

namespace autopack::google_machine_account_test {

using namespace autopack::testing;
using nlohmann::json;
using Fixture = CredentialsFixture;
using Reason = http::TransportError::Reason;

namespace {

http::Response of_google(int status, std::string body) {
  return {.status = status, .headers = {{"Metadata-Flavor", "Google"}}, .body = std::move(body)};
}

struct Machine : Fixture {
  explicit Machine(std::vector<FakeHttp::Answer> answers) : Fixture{std::move(answers)} {
    variables.erase("NO_GCE_CHECK");
    variables["GCE_METADATA_HOST"] = "127.0.0.1:1";
  }
};

/// A fake `gcloud` with the test's output, first on PATH.
struct WithGcloud : Fixture {
  explicit WithGcloud(const std::string& script) {
    const auto program = write("bin/gcloud", "#!/bin/sh\nPATH=/usr/bin:/bin\n" + script);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    variables["PATH"] = program.parent_path().string();
    configuration = {.name = "work", .properties = {{"core/account", "me@example.org"}}};
  }
};

constexpr auto helper_answer =
    R"({"credential": {"access_token": "of-gcloud", "id_token": null, "token_expiry": "1970-01-12T14:46:40Z"}})";

}  // namespace

TEST_CASE("the metadata server gives the machine's tokens") {
  Machine machine{{of_google(200, "computeMetadata/\n"),
                   of_google(200, R"({"access_token": "t1", "expires_in": 3000})"),
                   of_google(200, "machine-project\n")}};
  const auto source = machine.find();
  CHECK(machine.client.requests.size() == 1);
  CHECK(machine.client.requests.at(0).url == "http://127.0.0.1:1/");
  const auto token = source->token();
  CHECK(token.token.reveal() == "t1");
  CHECK(token.expires_at == 1'003'000);
  const auto& request = machine.client.requests.at(1);
  CHECK(request.url ==
        "http://127.0.0.1:1/computeMetadata/v1/instance/service-accounts/default/"
        "token?scopes=https://www.googleapis.com/auth/cloud-platform");
  CHECK(header_of(request, "Metadata-Flavor") == "Google");
  CHECK(source->project() == "machine-project");
  CHECK(source->describe().find("metadata server `127.0.0.1:1`") == 0);
}

TEST_CASE("a token of a metadata server ends within a day") {
  Machine machine{{of_google(200, ""), of_google(200, R"({"access_token": "t", "expires_in":
                                                         9223372036854775807})")}};
  CHECK(machine.find()->token().expires_at == 1'086'400);
}

TEST_CASE("an impostor of the metadata server is not trusted") {
  Machine elsewhere{{answer(200, "<html>")}};
  CHECK(failure_of([&] { return elsewhere.find(); }, "no Google credentials were found").kind() ==
        ErrorKind::environment);

  Machine away{{Reason::connect, Reason::timeout, Reason::reset}};
  static_cast<void>(failure_of([&] { return away.find(); }, "no metadata server"));

  Fixture unchecked;
  unchecked.variables["GCE_METADATA_HOST"] = "127.0.0.1:1";
  static_cast<void>(failure_of([&] { return unchecked.find(); }, "no Google credentials"));
  CHECK(unchecked.client.requests.empty());

  Machine changed{{of_google(200, ""), answer(200, R"({"access_token": "s3cr3t-value"})")}};
  const auto source = changed.find();
  static_cast<void>(failure_of([&] { return source->token(); }, "lacks `Metadata-Flavor: Google`"));
}

TEST_CASE("metadata servers that give no token") {
  for (const auto& [response, fragment] : std::vector<std::pair<http::Response, std::string>>{
           {of_google(404, "not found"), "give the machine a service account"},
           {of_google(403, ""), ": 403"},
           {of_google(200, "s3cr3t-value"), "has no access token"},
           {of_google(200, R"({"access_token": "s3cr3t-value"})"), "has no access token"}}) {
    Machine machine{{of_google(200, ""), response}};
    const auto source = machine.find();
    CHECK(failure_of([&] { return source->token(); }, fragment).kind() == ErrorKind::remote);
  }
  Machine machine{{}};
  machine.variables["GCE_METADATA_HOST"] = "evil/path?";
  CHECK(failure_of([&] { return machine.find(); },
                   "`evil/path?` of `GCE_METADATA_HOST` is not a host")
            .kind() == ErrorKind::usage);
}

TEST_CASE("gcloud is asked for the account of its configuration") {
  WithGcloud gcloud{
      "echo \"$* $CLOUDSDK_ACTIVE_CONFIG_NAME $CLOUDSDK_CORE_LOG_HTTP "
      "[$CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT]\" >\"$CLOUDSDK_CONFIG/seen\"\n"
      "echo '" +
      std::string{helper_answer} + "'"};
  gcloud.variables["CLOUDSDK_CONFIG"] = gcloud.directory.path().string();
  gcloud.configuration.properties["billing/quota_project"] = "payer";
  const auto source = gcloud.find();
  CHECK(source->describe() ==
        "gcloud's account `me@example.org`, of gcloud's configuration `work`");
  CHECK(source->quota_project() == "payer");
  const auto token = source->token();
  CHECK(token.token.reveal() == "of-gcloud");
  CHECK(token.expires_at == 1'003'600);
  CHECK(read_file(gcloud.directory.path() / "seen") ==
        "config config-helper --min-expiry=5m --format=json(credential) --account=me@example.org "
        "work false []\n");
  gcloud.configuration.properties["billing/quota_project"] = "CURRENT_PROJECT";
  CHECK_FALSE(gcloud.find()->quota_project());
}

TEST_CASE("an account that is asked for wins over credentials files, one that is not does not") {
  WithGcloud gcloud{"echo '" + std::string{helper_answer} + "'"};
  gcloud.variables["GOOGLE_APPLICATION_CREDENTIALS"] =
      gcloud.write("adc.json", authorized_user()).string();
  CHECK(gcloud.find()->describe().find("user credentials") == 0);
  gcloud.account = {.value = "you@example.org", .origin = "`--account`"};
  CHECK(gcloud.find()->describe() == "gcloud's account `you@example.org`, named by `--account`");
  CHECK(gcloud.find(gcloud.write("token", "t"))->describe().find("access token file") == 0);
}

TEST_CASE("gcloud's refusals are reported with the command that fixes them") {
  struct Case {
    std::string script{};
    std::string fragment{};
  };

  for (const auto& [script, fragment] :
       {Case{"echo 'ERROR: (gcloud.config.config-helper) Your current active account "
             "[me@example.org] does not have any valid credentials' >&2; exit 1",
             "Your current active account [me@example.org] does not have any valid credentials"},
        Case{"echo 'Reauthentication required.' >&2; exit 1", "gcloud: Reauthentication required."},
        Case{"exit 1", "gcloud auth login me@example.org"},
        Case{"echo s3cr3t-value", "gcloud printed no access token"},
        Case{"echo '{\"credential\": 5}'", "gcloud printed no access token"}}) {
    WithGcloud gcloud{script};
    const auto source = gcloud.find();
    CHECK(failure_of([&] { return source->token(); }, fragment).kind() == ErrorKind::environment);
  }
  WithGcloud absent{"exit 1"};
  absent.variables["PATH"] = "/nowhere";
  static_cast<void>(failure_of([&] { return absent.find(); }, "there is no `gcloud`"));
  absent.account = {.value = "a b@c", .origin = "`--account`"};
  CHECK(failure_of([&] { return absent.find(); }, "is not an account in gcloud").kind() ==
        ErrorKind::usage);
}

}  // namespace autopack::google_machine_account_test
