#include "base/json.hpp"
#include "base/text.hpp"
#include "preflight/checks.hpp"
#include "support/routed_http.hpp"

#include <doctest/doctest.h>

namespace autopack::preflight_checks_test {

using namespace autopack::preflight;
using autopack::testing::RoutedHttp;
using nlohmann::json;

namespace {

class Token final : public google::TokenSource {
public:
  google::AccessToken token() override { return {.token = Secret{"secret-token"}}; }

  void expire() override {}

  std::string describe() const override { return "test"; }

  std::optional<std::string> project() const override { return {}; }

  std::optional<std::string> quota_project() const override { return "payer"; }
};

/// A repository with the given content.
class FakeRepository final : public registry::Repository {
public:
  explicit FakeRepository(const std::map<std::string, registry::StoredManifest>& manifests,
                          const std::map<std::string, std::string>& blobs,
                          const std::optional<registry::Refused>& refusal)
      : manifests_{manifests}, blobs_{blobs}, refusal_{refusal} {}

  void check_access() override {
    if (refusal_) {
      throw *refusal_;
    }
  }

  std::optional<image::Descriptor> head_manifest(const std::string& reference) override {
    const auto found = manifests_.find(reference);
    return found == manifests_.end()
               ? std::nullopt
               : std::optional{image::Descriptor{.digest = found->second.digest}};
  }

  std::optional<registry::StoredManifest> manifest(const std::string& reference) override {
    const auto found = manifests_.find(reference);
    return found == manifests_.end() ? std::nullopt : std::optional{found->second};
  }

  std::optional<registry::StoredManifest> image_manifest(const std::string& reference,
                                                         const std::string&) override {
    return manifest(reference);
  }

  std::string read_blob(const image::Descriptor& blob) override {
    return blobs_.at(blob.digest.str());
  }

  bool put_manifest(const registry::StoredManifest&, const std::optional<std::string>&) override {
    return unexpected(), false;
  }

  bool has_blob(const Digest&, std::optional<std::uint64_t>) override {
    return unexpected(), false;
  }

  void fetch_blob(const image::Descriptor&, const std::function<void(std::string_view)>&) override {
    unexpected();
  }

  registry::PushedBlob push_blob(const registry::Blob&, const registry::Progress&) override {
    return unexpected(), registry::PushedBlob{.digest = sha256("")};
  }

  void begin_uploads(std::size_t) override { unexpected(); }

  std::vector<std::string> tags() override { return unexpected(), std::vector<std::string>{}; }

  std::optional<std::vector<registry::Referrer>> referrers(const Digest&) override {
    return unexpected(), std::nullopt;
  }

private:
  static void unexpected() { throw std::runtime_error{"a check changes nothing"}; }

  const std::map<std::string, registry::StoredManifest>& manifests_;
  const std::map<std::string, std::string>& blobs_;
  const std::optional<registry::Refused>& refusal_;
};

const std::string crm = "https://cloudresourcemanager.googleapis.com/v1/projects/p";
const std::string repository_url =
    "https://artifactregistry.googleapis.com/v1/projects/p/locations/us-central1/repositories/r";
const std::string account_url =
    "https://iam.googleapis.com/v1/projects/-/serviceAccounts/a%40p.iam.gserviceaccount.com";
const std::string bucket_url = "https://storage.googleapis.com/storage/v1/b/out";

std::string status_body(const std::string& status, const std::string& reason = "") {
  json body{{"error", {{"status", status}, {"message", "its words"}}}};
  if (!reason.empty()) {
    body["error"]["details"] = {{{"reason", reason}}};
  }
  return body.dump();
}

std::string policy(const std::string& role, const std::string& member) {
  return json{{"bindings", {{{"role", role}, {"members", {member}}}}}}.dump();
}

/// A job, and services with configured responses.
struct Fixture {
  Fixture() {
    http.on("GET " + crm, 200,
            R"({"projectId": "p", "projectNumber": "42", "lifecycleState": "ACTIVE"})");
  }

  explicit Fixture(std::map<std::string, std::string, std::less<>> variables) : Fixture() {
    environment = Environment{std::move(variables)};
  }

  template <class Run>
  std::string outcomes(Run&& run) {
    GoogleApis apis{{.endpoints = Endpoints{environment, {}, "us-central1"},
                     .client = &http,
                     .credentials = [] { return std::make_unique<Token>(); }}};
    ProjectFacts project{apis, "p"};
    const Sources sources{.apis = &apis,
                          .project = &project,
                          .repository = [&](const image::Reference&, registry::Access) {
                            return std::make_unique<FakeRepository>(manifests, blobs, refusal);
                          }};
    found = run(job, sources);
    std::vector<std::string> words;
    for (const auto& finding : found) {
      words.push_back(finding.check.value_or("") + " " + std::string{to_string(finding.severity)});
      const bool is_bad =
          finding.severity == Severity::error || finding.severity == Severity::warning;
      CHECK((!is_bad || !finding.hints.empty()));
    }
    return join(words, ", ");
  }

  void package(const std::string& target) {
    job.packaged = PlannedImage{.target = image::Reference::parse(target)};
  }

  Environment environment{};
  RoutedHttp http{};
  PlannedJob job{.location = {.project = "p", .region = "us-central1"}};
  std::map<std::string, registry::StoredManifest> manifests{};
  std::map<std::string, std::string> blobs{};
  std::optional<registry::Refused> refusal{};
  Problems found{};
};

}  // namespace

TEST_CASE("a project that is not there is found") {
  Fixture f;
  CHECK(f.outcomes(check_project) == "project ok");
  REQUIRE(f.http.requests.size() == 1);
  CHECK(f.http.requests[0].headers[0].value == "payer");
  CHECK(f.http.requests[0].headers[1].value == "Bearer secret-token");
  f.http.on("GET " + crm, 404, status_body("NOT_FOUND"));
  CHECK(f.outcomes(check_project) == "project error");
  f.http.on("GET " + crm, 403, status_body("PERMISSION_DENIED"));
  CHECK(f.outcomes(check_project) == "project unknown");
  f.http.on("GET " + crm, 403, status_body("PERMISSION_DENIED", "CONSUMER_INVALID"));
  CHECK(f.outcomes(check_project) == "project error");
  f.http.on("GET " + crm, 403, status_body("PERMISSION_DENIED", "SERVICE_DISABLED"));
  CHECK(f.outcomes(check_project) == "project unknown");
  CHECK(f.found[0].hints[0] ==
        "gcloud services enable cloudresourcemanager.googleapis.com --project=p");
  f.http.on("GET " + crm, 200, R"({"lifecycleState": "DELETE_REQUESTED"})");
  CHECK(f.outcomes(check_project) == "project error");
  f.http.on("GET " + crm, 200, "<html>");
  CHECK_THROWS_AS(f.outcomes(check_project), Error);
}

TEST_CASE("APIs that are off are found") {
  Fixture f;
  f.package("us-central1-docker.pkg.dev/p/r/i");
  const std::string url =
      "GET https://serviceusage.googleapis.com/v1/projects/p/services:batchGet?"
      "names=projects/p/services/aiplatform.googleapis.com&"
      "names=projects/p/services/logging.googleapis.com&"
      "names=projects/p/services/artifactregistry.googleapis.com";
  const auto states = [&](const std::string& a, const std::string& b, const std::string& c) {
    json services = json::array();
    for (const auto& [name, state] :
         {std::pair{"aiplatform", a}, std::pair{"logging", b}, std::pair{"artifactregistry", c}}) {
      services.push_back({{"name", std::string{"projects/42/services/"} + name + ".googleapis.com"},
                          {"state", state}});
    }
    f.http.on(url, 200, json{{"services", services}}.dump());
    return f.outcomes(check_services);
  };
  CHECK(states("ENABLED", "ENABLED", "ENABLED") == "api ok, api ok, api ok");
  CHECK(states("DISABLED", "ENABLED", "ENABLED") == "api error, api ok, api ok");
  CHECK(states("ENABLED", "DISABLED", "DISABLED") == "api ok, api warning, api error");
  f.http.on(url, 200, "{}");
  CHECK(f.outcomes(check_services) == "api unknown, api unknown, api unknown");
  f.http.on(url, 403, "no");
  CHECK(f.outcomes(check_services) == "api unknown");
}

TEST_CASE("the right to create the job is asked for") {
  Fixture f;
  const std::string url = "POST " + crm + ":testIamPermissions";
  f.http.on(url, 200, R"({"permissions": ["aiplatform.customJobs.create"]})");
  CHECK(f.outcomes(check_permissions) == "permission ok");
  CHECK(f.http.requests.back().body == R"({"permissions":["aiplatform.customJobs.create"]})");
  f.http.on(url, 200, "{}");
  CHECK(f.outcomes(check_permissions) == "permission error");
  f.http.on(url, 401, "{}");
  CHECK(f.outcomes(check_permissions) == "permission unknown");
  CHECK(f.found[0].hints[0] == "gcloud auth application-default login");
}

TEST_CASE("a job whose image Cloud Build may build needs its API and the right to start builds") {
  Fixture f;
  f.package("us-central1-docker.pkg.dev/p/r/i");
  f.job.packaged->uses_cloud_build = true;
  f.http.on(
      "GET https://serviceusage.googleapis.com/v1/projects/p/services:batchGet?"
      "names=projects/p/services/aiplatform.googleapis.com&"
      "names=projects/p/services/logging.googleapis.com&"
      "names=projects/p/services/artifactregistry.googleapis.com&"
      "names=projects/p/services/cloudbuild.googleapis.com",
      200,
      R"({"services": [{"name": "projects/42/services/cloudbuild.googleapis.com",
                        "state": "DISABLED"}]})");
  CHECK(f.outcomes(check_services) == "api unknown, api unknown, api unknown, api error");
  CHECK(f.found[3].hints[0] == "gcloud services enable cloudbuild.googleapis.com --project=p");

  const std::string url = "POST " + crm + ":testIamPermissions";
  f.http.on(url, 200, R"({"permissions": ["aiplatform.customJobs.create"]})");
  CHECK(f.outcomes(check_permissions) == "permission ok, permission error");
  CHECK(f.found[1].hints[0].ends_with("--role=roles/cloudbuild.builds.editor"));
}

TEST_CASE("a quota is asked for by its metric") {
  Fixture f;
  const std::string url =
      "GET https://serviceusage.googleapis.com/v1beta1/projects/p/services/"
      "aiplatform.googleapis.com/consumerQuotaMetrics/aiplatform.googleapis.com%2Fm";
  const auto ask = [](const PlannedJob& job, const Sources& sources) {
    return check_quota({.metric = "m", .amount = 1}, job, sources);
  };
  f.http.on(url, 200, R"({"consumerQuotaLimits": [{"quotaBuckets": [{"effectiveLimit": "1"}]}]})");
  CHECK(f.outcomes(ask) == "quota ok");
  f.http.on(url, 200, R"({"consumerQuotaLimits": [{"quotaBuckets": [{}]}]})");
  CHECK(f.outcomes(ask) == "quota error");
  f.http.on(url, 404, status_body("NOT_FOUND"));
  CHECK(f.outcomes(ask) == "quota unknown");
}

TEST_CASE("the service account is there, of the project, and may be used") {
  Fixture f;
  f.job.service_account = "a@p.iam.gserviceaccount.com";
  const auto account = [&](int status, const std::string& body, const std::string& granted) {
    f.http.on("GET " + account_url, status, body);
    f.http.on("POST " + account_url + ":testIamPermissions", 200, granted);
    return f.outcomes(check_service_account);
  };
  const std::string granted = R"({"permissions": ["iam.serviceAccounts.actAs"]})";
  CHECK(account(200, R"({"projectId": "p"})", granted) == "service-account ok, act-as ok");
  CHECK(account(200, R"({"projectId": "q"})", granted) == "service-account warning, act-as ok");
  CHECK(account(200, R"({"projectId": "p", "disabled": true})", granted) ==
        "service-account error, act-as ok");
  CHECK(account(200, R"({"projectId": "p"})", "{}") == "service-account ok, act-as error");
  CHECK(account(403, status_body("PERMISSION_DENIED"), granted) ==
        "service-account unknown, act-as ok");
  f.http.on("POST " + account_url + ":testIamPermissions", 404, "{}");
  f.http.on("GET " + account_url, 404, "{}");
  CHECK(f.outcomes(check_service_account) == "service-account error");
}

TEST_CASE("an account that may not write logs is reported") {
  Fixture f;
  f.job.service_account = "a@p.iam.gserviceaccount.com";
  const std::string member = "serviceAccount:" + *f.job.service_account;
  const auto logs = [&](int status, const std::string& body) {
    f.http.on("POST " + crm + ":getIamPolicy", status, body);
    return f.outcomes(check_log_writer);
  };
  CHECK(logs(200, policy("roles/logging.logWriter", member)) == "logs ok");
  CHECK(logs(200, policy("roles/viewer", member)) == "logs warning");
  CHECK(logs(200, policy("organizations/1/roles/own", member)) == "logs unknown");
  CHECK(logs(403, "{}") == "logs unknown");
}

TEST_CASE("the repository of the image takes a push") {
  Fixture f;
  f.package("us-central1-docker.pkg.dev/p/r/i:v1");
  const std::string test = "POST " + repository_url + ":testIamPermissions";
  const auto repository = [&](const std::string& body) {
    f.http.on("GET " + repository_url, 200, body);
    return f.outcomes(check_repository);
  };
  f.http.on(test, 200, R"({"permissions": ["artifactregistry.repositories.uploadArtifacts"]})");
  CHECK(repository(R"({"format": "DOCKER", "mode": "STANDARD_REPOSITORY"})") ==
        "repository ok, upload-permission ok");
  CHECK(repository(R"({"format": "PYTHON"})") == "repository error");
  CHECK(repository(R"({"format": "DOCKER", "mode": "VIRTUAL_REPOSITORY"})") == "repository error");
  const std::string immutable = R"({"format": "DOCKER", "dockerConfig": {"immutableTags": true}})";
  CHECK(repository(immutable) == "repository ok, upload-permission ok, tag ok");
  f.manifests.insert_or_assign("v1", registry::StoredManifest{.digest = sha256("")});
  CHECK(repository(immutable) == "repository ok, upload-permission ok, tag error");
  f.http.on(test, 200, "{}");
  CHECK(repository(R"({"format": "DOCKER"})") == "repository ok, upload-permission error");
  f.job.location.region = "europe-west4";
  CHECK(repository(R"({"format": "DOCKER"})") ==
        "repository-location warning, repository ok, upload-permission error");
  f.http.on("GET " + repository_url, 403, status_body("PERMISSION_DENIED"));
  CHECK(f.outcomes(check_repository) == "repository unknown");
  f.http.on("GET " + repository_url, 403, status_body("PERMISSION_DENIED", "SERVICE_DISABLED"));
  CHECK(f.outcomes(check_repository) == "api error");
}

TEST_CASE("a missing repository is an error unless it will be made") {
  Fixture f;
  f.package("us-central1-docker.pkg.dev/p/r/i");
  f.http.on("GET " + repository_url, 404, status_body("NOT_FOUND"));
  CHECK(f.outcomes(check_repository) == "repository error");
  CHECK(f.found[0].hints[0] ==
        "gcloud artifacts repositories create r --location=us-central1 --project=p "
        "--repository-format=docker");
  f.job.packaged->is_default_name = true;
  const std::string url = "POST " + crm + ":testIamPermissions";
  f.http.on(url, 200, R"({"permissions": ["artifactregistry.repositories.create"]})");
  CHECK(f.outcomes(check_repository) == "repository ok");
  f.http.on(url, 200, "{}");
  CHECK(f.outcomes(check_repository) == "repository error");
  f.http.on(url, 403, "{}");
  CHECK(f.outcomes(check_repository) == "repository unknown");
  f.package("127.0.0.1:5000/r/i");
  CHECK(f.outcomes(check_repository).empty());
}

TEST_CASE("a login that cannot push is found") {
  Fixture f;
  f.package("us-central1-docker.pkg.dev/p/r/i");
  CHECK(f.outcomes(check_push) == "registry-login ok");
  const auto refuse = [&](int status, const std::string& code) {
    f.refusal = registry::Refused{status, code, "", "could not push"};
    f.refusal->cause("POST: 401 DENIED").hint("docker login");
    return f.outcomes(check_push);
  };
  CHECK(refuse(401, "UNAUTHORIZED") == "registry-login error");
  CHECK(refuse(403, "DENIED") == "registry-login error");
  CHECK(refuse(404, "NAME_UNKNOWN") == "repository error");
  f.job.packaged->is_default_name = true;
  CHECK(refuse(404, "NAME_UNKNOWN").empty());
  CHECK_THROWS_AS(refuse(500, ""), registry::Refused);
}

TEST_CASE("the service agent's right to read an image of another project") {
  Fixture f;
  const auto image = image::Reference::parse("us-docker.pkg.dev/q/r/i");
  const std::string agent =
      "serviceAccount:service-42@gcp-sa-aiplatform-cc.iam.gserviceaccount.com";
  const std::string url =
      "GET https://artifactregistry.googleapis.com/v1/projects/q/locations/us/repositories/r"
      ":getIamPolicy";
  const std::string other =
      "POST https://cloudresourcemanager.googleapis.com/v1/projects/q"
      ":getIamPolicy";
  const auto reader = [&](const PlannedJob& job, const Sources& sources) {
    return check_image_reader(image, job, sources);
  };
  f.http.on(url, 200, policy("roles/artifactregistry.reader", agent));
  CHECK(f.outcomes(reader) == "image-reader ok");
  f.http.on(url, 200, "{}");
  f.http.on(other, 200, policy("roles/viewer", agent));
  CHECK(f.outcomes(reader) == "image-reader ok");
  f.http.on(other, 200, policy("roles/viewer", "group:g"));
  CHECK(f.outcomes(reader) == "image-reader unknown");
  f.http.on(other, 200, "{}");
  CHECK(f.outcomes(reader) == "image-reader warning");
  f.http.on(other, 403, "{}");
  CHECK(f.outcomes(reader) == "image-reader unknown");
  f.http.on(url, 403, "{}");
  CHECK(f.outcomes(reader) == "image-reader unknown");
  const auto own = [](const PlannedJob& job, const Sources& sources) {
    return check_image_reader(image::Reference::parse("us-docker.pkg.dev/p/r/i"), job, sources);
  };
  CHECK(f.outcomes(own).empty());
}

TEST_CASE("an image in a registry is looked at without being pulled") {
  Fixture f;
  const job::Pool pool{
      .machine = job::Machine{.type = "a2-highgpu-1g", .accelerator = "NVIDIA_TESLA_A100"}};
  const auto look = [&](const PlannedJob&, const Sources& sources) {
    return check_remote_image(image::Reference::parse("gcr.io/p/i:v1"), {&pool}, sources);
  };
  CHECK(f.outcomes(look) == "image error");
  const auto has = [&](const std::string& architecture, const std::string& cuda) {
    const std::string config = json{{"os", "linux"},
                                    {"architecture", architecture},
                                    {"config", {{"Env", {"CUDA_VERSION=" + cuda}}}},
                                    {"rootfs", {{"type", "layers"}, {"diff_ids", json::array()}}}}
                                   .dump();
    const auto digest = sha256(config);
    f.blobs[digest.str()] = config;
    const std::string type{image::media_type::oci_manifest};
    std::string text = json{{"schemaVersion", 2},
                            {"mediaType", type},
                            {"config",
                             {{"mediaType", image::media_type::oci_config},
                              {"digest", digest.str()},
                              {"size", config.size()}}},
                            {"layers",
                             {{{"mediaType", image::media_type::oci_layer},
                               {"digest", digest.str()},
                               {"size", 1000}}}}}
                           .dump();
    const auto stored = sha256(text);
    f.manifests.insert_or_assign(
        "v1",
        registry::StoredManifest{.media_type = type, .text = std::move(text), .digest = stored});
    return f.outcomes(look);
  };
  CHECK(has("amd64", "12.1") == "image ok");
  CHECK(has("arm64", "12.1") == "architecture error");
  CHECK(has("amd64", "10.1") == "cuda error");
}

TEST_CASE("an index in a registry needs an image for the pool's machines") {
  Fixture f;
  const job::Pool pool{.machine = job::Machine{.type = "n1-standard-4"}};
  const std::string config =
      R"({"os": "linux", "architecture": "arm64", "config": {}, "rootfs": {"diff_ids": []}})";
  const auto put = [&](const std::string& reference, const std::string& text) {
    f.manifests.insert_or_assign(reference,
                                 registry::StoredManifest{.text = text, .digest = sha256(text)});
  };
  const auto digest = sha256(config);
  f.blobs[digest.str()] = config;
  const std::string manifest = json{
      {"schemaVersion", 2},
      {"config", {{"digest", digest.str()}, {"size", config.size()}}},
      {"layers", json::array()}}.dump();
  const std::string named = sha256(manifest).str();
  put(named, manifest);
  const auto with = [&](const std::vector<std::pair<std::string, std::string>>& platforms) {
    json entries = json::array();
    for (const auto& one : platforms) {
      json entry{{"digest", named}, {"size", manifest.size()}};
      if (!one.first.empty()) {
        entry["platform"] = {{"os", one.first}, {"architecture", one.second}};
      }
      entries.push_back(std::move(entry));
    }
    put("v1", json{{"schemaVersion", 2}, {"manifests", std::move(entries)}}.dump());
    return f.outcomes([&](const PlannedJob&, const Sources& sources) {
      return check_remote_image(image::Reference::parse("gcr.io/p/i:v1"), {&pool}, sources);
    });
  };
  CHECK(with({{"linux", "arm64"}, {"linux", "amd64"}}) == "image ok");
  CHECK(with({{"linux", "arm64"}, {"unknown", "unknown"}}) == "architecture error");
  CHECK(with({{"windows", "amd64"}}) == "architecture error");
  CHECK(with({{"unknown", "unknown"}}) == "architecture error");
  CHECK(with({}) == "architecture error");
  // The configuration contains what the index lacks.
  CHECK(with({{"", ""}}) == "architecture error");
}

TEST_CASE("buckets, their place and who may use them") {
  Fixture f;
  const auto bucket = [](const PlannedJob& job, const Sources& sources) {
    return check_bucket("out", job, sources);
  };
  const auto is = [&](int status, const std::string& body) {
    f.http.on("GET " + bucket_url, status, body);
    return f.outcomes(bucket);
  };
  CHECK(is(404, "{}") == "bucket error");
  CHECK(is(403, "{}") == "bucket unknown");
  CHECK(is(200, R"({"projectNumber": "42", "location": "US", "locationType": "multi-region"})") ==
        "bucket ok");
  CHECK(is(200, R"({"projectNumber": "42", "location": "US-EAST1", "locationType": "region"})") ==
        "bucket-location warning, bucket ok");
  const std::string foreign = R"({"projectNumber": "7"})";
  f.http.on("GET " + bucket_url + "/iam", 200, "{}");
  f.http.on("POST https://cloudresourcemanager.googleapis.com/v1/projects/7:getIamPolicy", 200,
            "{}");
  CHECK(is(200, foreign) == "bucket ok, bucket warning");
  f.http.on("GET " + bucket_url + "/iam", 200,
            policy("roles/storage.objectAdmin",
                   "serviceAccount:service-42@gcp-sa-aiplatform-cc.iam.gserviceaccount.com"));
  CHECK(is(200, foreign) == "bucket ok");
  f.http.on("GET " + bucket_url + "/iam", 403, "{}");
  CHECK(is(200, foreign) == "bucket ok, bucket unknown");
}

TEST_CASE("a TensorBoard, a network and a persistent resource are there") {
  Fixture f;
  f.job.tensorboard = "projects/p/locations/us-central1/tensorboards/1";
  f.job.network = "projects/42/global/networks/net";
  f.job.persistent_resource = "pr";
  f.job.pools = {{.machine = job::Machine{.type = "n1-standard-4"}}};
  const std::string vertex = "GET https://us-central1-aiplatform.googleapis.com/v1/";
  const std::string board = vertex + *f.job.tensorboard;
  const std::string network = "GET https://compute.googleapis.com/compute/v1/" + *f.job.network;
  const std::string resource = vertex + "projects/p/locations/us-central1/persistentResources/pr";
  f.http.on(board, 200, "{}");
  CHECK(f.outcomes(check_tensorboard) == "tensorboard ok");
  f.http.on(board, 404, "{}");
  CHECK(f.outcomes(check_tensorboard) == "tensorboard error");
  f.http.on(board, 503, "{}");
  CHECK(f.outcomes(check_tensorboard) == "tensorboard unknown");
  f.http.on(network, 200, R"({"peerings": [{"name": "servicenetworking-googleapis-com",
                                            "state": "ACTIVE"}]})");
  CHECK(f.outcomes(check_network) == "network ok");
  f.http.on(network, 200, R"({"peerings": [{"name": "other", "state": "ACTIVE"}]})");
  CHECK(f.outcomes(check_network) == "network error");
  f.http.on(network, 404, "{}");
  CHECK(f.outcomes(check_network) == "network error");
  const auto persistent = [&](int status, const std::string& body) {
    f.http.on(resource, status, body);
    return f.outcomes(check_persistent_resource);
  };
  CHECK(persistent(404, "{}") == "persistent-resource error");
  CHECK(persistent(403, "{}") == "persistent-resource unknown");
  CHECK(persistent(200, R"({"state": "ERROR"})") == "persistent-resource error");
  const auto machines = [](const std::string& type) {
    return R"({"state": "RUNNING", "resourcePools": [{"machineSpec": {"machineType": ")" + type +
           R"("}}, 7]})";
  };
  CHECK(persistent(200, machines("n1-standard-4")) == "persistent-resource ok");
  CHECK(persistent(200, machines("n1-standard-8")) == "persistent-resource error");
}

TEST_CASE("endpoints are overridden one by one") {
  const Environment environment{
      {{"CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", "http://127.0.0.1:1/storage/v1/"},
       {"CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE", "http://127.0.0.1:1"},
       {"CLOUDSDK_API_ENDPOINT_OVERRIDES_IAM", "http://127.0.0.1:1/"}}};
  google::GcloudConfiguration configuration;
  configuration.properties["api_endpoint_overrides/serviceusage"] = "https://usage.example/";
  const Endpoints endpoints{environment, configuration, "us-central1"};
  CHECK(endpoints.root(Service::storage) == "http://127.0.0.1:1/storage/v1");
  CHECK(endpoints.root(Service::compute) == "http://127.0.0.1:1/compute/v1");
  CHECK(endpoints.root(Service::iam) == "http://127.0.0.1:1");
  CHECK(endpoints.root(Service::serviceusage) == "https://usage.example");
  CHECK(endpoints.root(Service::aiplatform) == "https://us-central1-aiplatform.googleapis.com");
  CHECK_FALSE(endpoints.is_stand_in());
}

TEST_CASE("jobs that go to this machine send no token to Google") {
  Fixture f{{{"CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM", "http://127.0.0.1:1/"}}};
  CHECK_THROWS_AS(f.outcomes(check_project), Error);
  CHECK(f.http.requests.empty());
}

TEST_CASE("checks run at once, and what has no answer at the end is unknown") {
  RoutedHttp http;
  Cancellation stop;
  const Cancellation user;
  http.hang("GET http://slow/", stop);
  http.break_off("GET http://gone/");
  const auto ask = [&](const std::string& url) {
    return [&http, url] {
      static_cast<void>(http.send({.url = url}));
      return Problems{};
    };
  };
  const std::vector<Check> checks{
      {"slow", "the slow one", ask("http://slow/")},
      {"gone", "the one that is gone", ask("http://gone/")},
      {"bug", "the one that is broken", ask("http://unexpected/")},
      {"good", "the good one", [] { return Problems{ok("good", "fine")}; }}};
  const auto findings = run_checks(checks, stop, user, std::chrono::milliseconds{50});
  REQUIRE(findings.size() == 4);
  CHECK(findings[0].severity == Severity::unknown);
  CHECK(findings[0].reason == "no answer within 0.05 s");
  CHECK(findings[1].severity == Severity::unknown);
  CHECK(findings[1].reason == "cannot connect");
  CHECK(findings[2].severity == Severity::unknown);
  CHECK(findings[3].severity == Severity::ok);
}

TEST_CASE("the user's interruption ends the checks") {
  RoutedHttp http;
  Cancellation stop;
  Cancellation user;
  user.requested = true;
  http.hang("GET http://slow/", stop);
  const std::vector<Check> checks{{"slow", "the slow one", [&] {
                                     static_cast<void>(http.send({.url = "http://slow/"}));
                                     return Problems{};
                                   }}};
  CHECK_THROWS_AS(run_checks(checks, stop, user), Interrupted);
}

}  // namespace autopack::preflight_checks_test
