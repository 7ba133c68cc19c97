#include "base/error.hpp"
#include "base/file.hpp"
#include "google/api_error.hpp"
#include "google/project.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace autopack::google_project_test {

namespace {

Environment environment(const TemporaryDirectory& directory,
                        std::map<std::string, std::string, std::less<>> more = {}) {
  more["CLOUDSDK_CONFIG"] = directory.path().string();
  return Environment{std::move(more)};
}

}  // namespace

TEST_CASE("gcloud's active configuration is read") {
  const TemporaryDirectory directory;
  const auto configurations = directory.path() / "configurations";
  CHECK(google::read_gcloud_configuration(environment(directory)).properties.empty());
  write_file(configurations / "config_default", "[core]\nproject = of-default\n");
  write_file(
      configurations / "config_work",
      "# mine\n[core]\naccount = a@b.c\nProject: of-work\n\n[ai]\nregion=europe-west4\nempty =\n");
  CHECK(google::read_gcloud_configuration(environment(directory)).get("core/project") ==
        "of-default");
  write_file(directory.path() / "active_config", "work\n");
  const auto active = google::read_gcloud_configuration(environment(directory));
  CHECK(active.name == "work");
  CHECK(active.get("core/project") == "of-work");
  CHECK(active.get("core/account") == "a@b.c");
  CHECK(active.get("ai/region") == "europe-west4");
  CHECK_FALSE(active.get("ai/empty"));
  CHECK(google::read_gcloud_configuration(environment(directory), "default").name == "default");
  const auto variable = environment(directory, {{"CLOUDSDK_ACTIVE_CONFIG_NAME", "default"}});
  CHECK(google::read_gcloud_configuration(variable).name == "default");
  CHECK(google::read_gcloud_configuration(environment(directory), "NONE").properties.empty());
  CHECK_THROWS_WITH(
      static_cast<void>(google::read_gcloud_configuration(environment(directory), "absent")),
      "gcloud has no configuration `absent`, which `--configuration` names");
  CHECK_THROWS_WITH(
      static_cast<void>(google::read_gcloud_configuration(environment(directory), "../x")),
      "`../x` is not the name of a gcloud configuration");
}

TEST_CASE("properties come from their variables before gcloud's configuration") {
  const google::GcloudConfiguration configuration{
      .name = "work",
      .properties = {{"core/account", "c@d.e"},
                     {"auth/impersonate_service_account", "sa@p.iam"},
                     {"api_endpoint_overrides/artifactregistry", "https://of-file/"}}};
  const TemporaryDirectory directory;
  const auto none = environment(directory);
  const auto set = environment(
      directory, {{"CLOUDSDK_CORE_ACCOUNT", "a@b.c"},
                  {"CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT", "x@p.iam"},
                  {"CLOUDSDK_API_ENDPOINT_OVERRIDES_ARTIFACTREGISTRY", "http://127.0.0.1:1/"},
                  {"GCLOUD_PROJECT", "of-gcloud"}});
  // the user did not choose the configuration's account
  CHECK_FALSE(google::find_account({}, none).value);
  CHECK(google::find_account({}, set).value == "a@b.c");
  CHECK(google::find_account("f@g.h", set).origin == "`--account`");
  CHECK(google::find_impersonation({}, none, configuration).origin ==
        "`auth/impersonate_service_account` of gcloud's configuration `work`");
  CHECK(google::find_impersonation({}, set, configuration).value == "x@p.iam");
  CHECK(google::find_impersonation("y@p.iam", set, configuration).value == "y@p.iam");
  CHECK(google::find_endpoint("artifactregistry", none, configuration).value == "https://of-file/");
  CHECK(google::find_endpoint("artifactregistry", set, configuration).value ==
        "http://127.0.0.1:1/");
  const auto slashes =
      environment(directory, {{"CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM", "//"}});
  CHECK_FALSE(google::find_endpoint("aiplatform", slashes, configuration).value);
  CHECK(google::find_project({}, set, {}, "of-key").value == "of-gcloud");
  CHECK(google::find_project({}, none, {}, "of-key").origin == "the credentials");
}

TEST_CASE("project and region come from the nearest setting") {
  const google::GcloudConfiguration configuration{
      .name = "work", .properties = {{"core/project", "c"}, {"ai/region", "r"}}};
  const Environment none;
  const Environment both{{{"CLOUDSDK_CORE_PROJECT", "sdk"}, {"GOOGLE_CLOUD_PROJECT", "cloud"}}};
  const Environment one{{{"GOOGLE_CLOUD_PROJECT", "cloud"}, {"CLOUDSDK_AI_REGION", "e"}}};
  CHECK(google::find_project("f", both, configuration, "k").value == "f");
  CHECK(google::find_project({}, both, configuration, "k").value == "sdk");
  CHECK(google::find_project({}, one, configuration, "k").value == "cloud");
  const auto of_gcloud = google::find_project({}, none, configuration, "k");
  CHECK(of_gcloud.value == "c");
  CHECK(of_gcloud.origin == "`core/project` of gcloud's configuration `work`");
  CHECK(google::find_project({}, none, {}, "k").value == "k");
  CHECK_FALSE(google::find_project({}, none, {}, {}).value);
  CHECK(google::find_region("f", one, configuration).value == "f");
  CHECK(google::find_region({}, one, configuration).value == "e");
  CHECK(google::find_region({}, none, configuration).value == "r");
  CHECK_FALSE(google::find_access_token_file({}, none, configuration).value);
}

TEST_CASE("API errors are split into their findings") {
  const auto read = [](int status, const char* body) {
    return google::read_api_error({.status = status, .body = body});
  };
  const auto several =
      read(400, R"({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": )"
                R"("List of found errors:\t1.Field: a.b; Message: No such.\t\t)"
                R"(2.Field: c; Message: Bad\u001b[31m.\t"}})");
  CHECK(several.status == "INVALID_ARGUMENT");
  CHECK(several.findings == std::vector<std::string>{"a.b: No such.", "c: Bad\\x1b[31m."});
  const auto disabled = read(
      403, R"({"error": {"status": "PERMISSION_DENIED", "message": "off", "details": [{"reason": )"
           R"("SERVICE_DISABLED", "metadata": {"activationUrl": "https://console/x"}}]}})");
  CHECK(disabled.reason == "SERVICE_DISABLED");
  CHECK(disabled.link == "https://console/x");
  CHECK(read(502, "<html>\nbad</html>").message == "<html>\\x0abad</html>");
  CHECK(read(500, "").message.empty());
  CHECK_FALSE(read(400, R"({"error": "text"})").status);
  CHECK(read(400, R"({"error": {"message": 5, "details": [1, {"reason": 2}]}})").message.empty());
  CHECK(google::describe(several, "POST", "https://h/p?alt=json&key=x") ==
        "POST https://h/p: 400 INVALID_ARGUMENT");
}

}  // namespace autopack::google_project_test
