#include "base/json.hpp"
#include "base/text.hpp"
#include "submit/submitter.hpp"
#include "support/fake_google.hpp"

#include <doctest/doctest.h>

namespace autopack::submit_vertex_test {

using autopack::testing::answer;
using autopack::testing::FakeGoogle;
using autopack::testing::FakeHttp;
using nlohmann::json;
using Reason = http::TransportError::Reason;

namespace {

submit::VertexOptions options(FakeGoogle& google) {
  return {.location = {.project = "p", .region = "us-central1"},
          .service = &google.service,
          .reporter = &google.reporter,
          .created = [](const submit::SubmittedJob&) {}};
}

const job::Job my_job{.display_name = "my job"};

std::string header(const http::Request& request, const std::string& name) {
  for (const auto& field : request.headers) {
    if (field.name == name) {
      return field.value;
    }
  }
  return {};
}

Error failure(std::vector<FakeHttp::Answer> answers, std::size_t requests = 1) {
  FakeHttp client{std::move(answers)};
  FakeGoogle google{client};
  try {
    static_cast<void>(submit::make_vertex_submitter(options(google))->submit(my_job));
  } catch (const Error& error) {
    CHECK(client.requests.size() == requests);
    CHECK(error.kind() == ErrorKind::remote);
    return error;
  }
  throw std::runtime_error{"no error"};
}

std::string all_text(const Error& error) {
  return error.message() + "\n" + join(error.causes(), "\n") + "\n" + join(error.hints(), "\n");
}

bool holds(const std::string& text, const std::string& fragment) {
  CAPTURE(text);
  return text.find(fragment) != std::string::npos;
}

}  // namespace

TEST_CASE("each kind of job goes to its own collection") {
  FakeHttp client{{}};
  FakeGoogle google{client};
  const auto submitter = submit::make_vertex_submitter(options(google));
  const std::vector<std::pair<job::JobKind, std::string>> kinds{
      {job::JobKind::custom_job, "/customJobs?alt=json"},
      {job::JobKind::tuning_job, "/hyperparameterTuningJobs?alt=json"},
      {job::JobKind::training_pipeline, "/trainingPipelines?alt=json"},
  };
  for (const auto& [kind, end] : kinds) {
    CHECK(submitter->prepare(job::Job{.kind = kind}).url.ends_with(end));
  }
}

TEST_CASE("a job is created as gcloud creates it") {
  FakeHttp client{{answer(200, R"({"name": "projects/1/locations/us-central1/customJobs/7"})")}};
  FakeGoogle google{client};
  const auto submitter = submit::make_vertex_submitter(options(google));
  const auto submitted = submitter->submit(my_job);
  CHECK(submitted.name == "projects/1/locations/us-central1/customJobs/7");
  CHECK((*submitted.answer)["name"] == submitted.name);
  const auto& request = client.requests.at(0);
  CHECK(request.method == "POST");
  CHECK(request.url ==
        "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/"
        "customJobs?alt=json");
  auto sent = autopack::parse_json(request.body);
  CHECK(sent["labels"]["autopack-submission"].get<std::string>().size() == 32);
  sent.erase("labels");
  CHECK(sent == job::resource(my_job));
  CHECK(request.new_connection);
  CHECK(header(request, "Authorization") == "Bearer token-1");
  CHECK(header(request, "x-goog-user-project") == "quota");
  const auto prepared = submitter->prepare(my_job);
  CHECK(prepared.url == request.url);
  CHECK(*prepared.body == job::resource(my_job));
}

TEST_CASE("an endpoint override is used as it is") {
  FakeHttp client{{answer(200, R"({"name": "n"})")}};
  FakeGoogle google{client};
  auto changed = options(google);
  changed.endpoint_override = "http://127.0.0.1:5180/";
  static_cast<void>(submit::make_vertex_submitter(changed)->submit(my_job));
  CHECK(client.requests.at(0).url ==
        "http://127.0.0.1:5180/v1/projects/p/locations/us-central1/customJobs?alt=json");
}

TEST_CASE("a refused token is renewed once") {
  FakeHttp client{{answer(401, "{}"), answer(200, R"({"name": "n"})")}};
  FakeGoogle google{client};
  static_cast<void>(submit::make_vertex_submitter(options(google))->submit(my_job));
  CHECK(header(client.requests.at(1), "Authorization") == "Bearer token-2");
  const auto error =
      failure({answer(401, "{}"),
               answer(401, R"({"error": {"status": "UNAUTHENTICATED", "message": "m"}})")},
              2);
  CHECK(error.message() == "Vertex AI refused the job");
  CHECK(holds(all_text(error), "gcloud auth application-default login"));
}

TEST_CASE("refusals come with their findings and a remedy") {
  struct Case {
    int status{};
    const char* name{};
    const char* message{};
    std::vector<std::string> fragments{};
  };

  for (const auto& [status, name, message, fragments] : {
           Case{400,
                "INVALID_ARGUMENT",
                "List of found errors:\t1.Field: a; Message: One.\t2.Field: b; Message: Two.\t",
                {"400 INVALID_ARGUMENT\na: One.\nb: Two."}},
           Case{400,
                "INVALID_ARGUMENT",
                "You do not have permission to act as service_account: x. (or it may not exist)",
                {"roles/iam.serviceAccountUser"}},
           Case{429,
                "RESOURCE_EXHAUSTED",
                "The following quota metrics exceed quota limits: aiplatform.googleapis.com/x",
                {"429 RESOURCE_EXHAUSTED", "--consumer=projects/p"}},
           Case{400,
                "FAILED_PRECONDITION",
                "Vertex AI Service Agent service-1@x should be granted access to the image y",
                {"roles/artifactregistry.reader"}},
           Case{400,
                "INVALID_ARGUMENT",
                "Machine type \"c3-x\" is not supported",
                {"machine-types"}},
           Case{403, "PERMISSION_DENIED", "Permission denied", {"roles/aiplatform.user"}},
           Case{404, "NOT_FOUND", "gone", {"404 NOT_FOUND", "gone"}},
       }) {
    const json refusal{{"error", {{"code", status}, {"status", name}, {"message", message}}}};
    const auto error = failure({answer(status, refusal.dump())});
    CHECK(error.message() == "Vertex AI refused the job");
    for (const auto& fragment : fragments) {
      CHECK(holds(all_text(error), fragment));
    }
  }
}

TEST_CASE("a job without project or region is reported before the build") {
  FakeHttp client{{}};
  FakeGoogle google{client};
  auto nowhere = options(google);
  nowhere.location = {};
  const auto problems = submit::make_vertex_submitter(nowhere)->check({});
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].message == "no Google Cloud project is set");
  CHECK(problems[1].message == "no region is set");
  CHECK(submit::make_vertex_submitter(options(google))->check({}).empty());
}

}  // namespace autopack::submit_vertex_test
