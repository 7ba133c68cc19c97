#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "google/service.hpp"
#include "http/client.hpp"
#include "kubernetes/api.hpp"
#include "kubernetes/jobs.hpp"
#include "kubernetes/login.hpp"
#include "kubernetes/preflight.hpp"
#include "kubernetes/submitter.hpp"
#include "support/cutting_proxy.hpp"
#include "support/loopback_server.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace autopack::kubernetes_submit_test {

using autopack::testing::CuttingProxy;
using autopack::testing::LoopbackServer;
using autopack::testing::ReceivedRequest;
using autopack::testing::RecordingReporter;
using autopack::testing::Reply;
using nlohmann::json;

namespace {

Reply refuse(int status, const std::string& reason, const std::string& message) {
  return {.status = status,
          .body = json{{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"status", "Failure"},
                       {"reason", reason},
                       {"message", message},
                       {"code", status}}
                      .dump()};
}

Reply not_found(const std::string& name) {
  return refuse(404, "NotFound", fmt::format("jobs.batch \"{}\" not found", name));
}

/// An API server with Jobs and JobSets.
class ApiServer {
public:
  ApiServer()
      : server_{[this](const ReceivedRequest& request) {
          const std::lock_guard lock{mutex_};
          return answer(request);
        }} {}

  int port() const { return server_.port(); }

  std::vector<ReceivedRequest> requests() const { return server_.requests(); }

  std::size_t count(const std::string& method, const std::string& part = "") const {
    const auto all = requests();
    return static_cast<std::size_t>(std::ranges::count_if(all, [&](const auto& request) {
      return request.method == method && request.target.find(part) != std::string::npos;
    }));
  }

  /// Answers instead of the server, unless it returns nothing.
  std::function<std::optional<Reply>(const ReceivedRequest& request, std::size_t posts)> instead{};
  std::map<std::string, json> objects{};  ///< by path
  /// A quota of one job: it is checked before the name, as the real server does.
  bool has_quota{false};

private:
  Reply answer(const ReceivedRequest& request) {
    const auto path = request.target.substr(0, request.target.find('?'));
    posts_ += request.method == "POST" ? 1U : 0U;
    if (instead) {
      if (auto reply = instead(request, posts_)) {
        return *reply;
      }
    }
    if (request.method == "POST") {
      return create(path, request);
    }
    const auto found = objects.find(path);
    if (found != objects.end()) {
      if (request.method == "DELETE") {
        objects.erase(found);
        return {.body = R"({"kind":"Status","status":"Success"})"};
      }
      return {.body = found->second.dump()};
    }
    if (path.ends_with("/jobs") || path.ends_with("/pods") || path.ends_with("/events")) {
      auto items = json::array();
      for (const auto& [name, object] : objects) {
        if (name.starts_with(path + "/")) {
          items.push_back(object);
        }
      }
      return {.body = json{{"items", items}}.dump()};
    }
    if (path.find("/jobsets") != std::string::npos ||
        path.find("/trainjobs") != std::string::npos) {
      return {.status = 404, .body = "404 page not found\n"};
    }
    return not_found(path.substr(path.rfind('/') + 1));
  }

  Reply create(const std::string& path, const ReceivedRequest& request) {
    auto object = autopack::parse_json(request.body);
    if (!object.is_object()) {
      return refuse(400, "BadRequest", "not JSON");
    }
    if (has_quota && !objects.empty()) {
      return refuse(403, "Forbidden", "exceeded quota: one, used: count/jobs.batch=1");
    }
    const auto name = path + "/" + object["metadata"]["name"].get<std::string>();
    if (objects.contains(name)) {
      return refuse(409, "AlreadyExists", "jobs.batch \"x\" already exists");
    }
    object["metadata"]["uid"] = "u1";
    object["metadata"]["creationTimestamp"] = "2026-11-26T22:00:00Z";
    objects[name] = object;
    return {.status = 201, .body = object.dump()};
  }

  std::mutex mutex_{};
  std::size_t posts_{0};
  LoopbackServer server_;
};

/// A machine whose kubeconfig names the server at `port`.
class Machine {
public:
  explicit Machine(int port, const Cancellation* cancellation = nullptr)
      : client_{http::make_client({.cancellation = cancellation})},
        login_{{.access = {.context = "lab",
                           .name_space = "ml",
                           .origin = "config",
                           .server = fmt::format("http://127.0.0.1:{}", port),
                           .user = "me",
                           .token = Secret{"s3cr3t-token"}}}},
        api_{{.login = &login_,
              .client = client_.get(),
              .sleep = [](std::chrono::milliseconds) {},
              .reporter = &reporter}} {}

  std::unique_ptr<submit::Submitter> submitter() {
    return kubernetes::make_kubernetes_submitter(
        {.object = {.name_space = "ml"},
         .api = &api_,
         .uninterrupted = [this]() -> kubernetes::Api& {
           free_client_ = http::make_client({});
           auto options = api_.options();
           options.client = free_client_.get();
           free_api_ = std::make_unique<kubernetes::Api>(options);
           return *free_api_;
         },
         .reporter = &reporter,
         .created = [this](const submit::SubmittedJob& job) { created.push_back(*job.name); },
         .records = directory_.path() / "submissions"});
  }

  std::unique_ptr<submit::ClusterJobs> jobs() {
    return kubernetes::make_cluster_jobs({.api = &api_, .name_space = "ml", .reporter = &reporter});
  }

  Problems ask(const job::Job& job, const kubernetes::ObjectOptions& options) {
    return kubernetes::ask_cluster(api_, job, options);
  }

  RecordingReporter reporter{};
  std::vector<std::string> created{};

private:
  TemporaryDirectory directory_{};
  std::unique_ptr<http::Client> client_;
  kubernetes::Login login_;
  kubernetes::Api api_;
  std::unique_ptr<http::Client> free_client_{};
  std::unique_ptr<kubernetes::Api> free_api_{};
};

job::Job taxi() {
  job::Job job{.display_name = "taxi"};
  job.spec.pools = {{.replicas = 1, .container = job::Container{.image = "r/app@sha256:0"}}};
  return job;
}

std::string failure_of(const std::function<void()>& action) {
  const auto text = [](const Error& error) {
    return error.message() + "\n" + join(error.causes(), "\n") + "\n" + join(error.hints(), "\n");
  };
  try {
    action();
  } catch (const Interrupted& end) {
    return text(end.report());
  } catch (const Error& error) {
    return text(error);
  }
  return {};
}

bool holds(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a job is created once, with its label") {
  ApiServer server;
  Machine machine{server.port()};
  const auto done = machine.submitter()->submit(taxi());
  REQUIRE(server.objects.size() == 1);
  const auto& object = server.objects.begin()->second;
  CHECK(done.name == "kubernetes/lab/ml/" + object["metadata"]["name"].get<std::string>());
  CHECK(machine.created == std::vector{*done.name});
  CHECK(text_at(object["metadata"]["labels"], "autopack-submission").size() == 32);
  CHECK(server.count("POST", "fieldManager=autopack&fieldValidation=Strict") == 1);
  CHECK(server.requests().front().header("authorization") == "Bearer s3cr3t-token");
}

TEST_CASE("one job is created, wherever a connection breaks") {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  {
    ApiServer server;
    const CuttingProxy proxy{server.port(), {}, {}};
    Machine{proxy.port()}.submitter()->submit(taxi());
    sent = proxy.forward();
    received = proxy.backward();
  }
  constexpr std::uint64_t places = 100;
  for (std::uint64_t i = 0; i < 2 * places; ++i) {
    const bool is_answer = i % 2 == 0;
    const auto place = 1 + i / 2 * ((is_answer ? received : sent) - 1) / places;
    CAPTURE(is_answer);
    CAPTURE(place);
    ApiServer server;
    // The second POST of the same name is refused by its quota, as on a real server.
    server.has_quota = i % 4 < 2;
    const CuttingProxy proxy{server.port(),
                             is_answer ? std::vector<std::uint64_t>{} : std::vector{place},
                             is_answer ? std::vector{place} : std::vector<std::uint64_t>{}};
    Machine machine{proxy.port()};
    const auto done = machine.submitter()->submit(taxi());
    REQUIRE(server.objects.size() == 1);
    CHECK(machine.created == std::vector{*done.name});
  }
}

TEST_CASE("after an unclear answer the name is read before anything is sent again") {
  for (const auto status : {500, 502, 503, 504, 408}) {
    for (const bool was_made : {true, false}) {
      CAPTURE(status);
      CAPTURE(was_made);
      ApiServer server;
      server.has_quota = true;
      server.instead = [&](const ReceivedRequest& request,
                           std::size_t posts) -> std::optional<Reply> {
        if (request.method != "POST" || posts > 1) {
          return std::nullopt;
        }
        if (was_made) {
          auto object = autopack::parse_json(request.body);
          const auto name = object["metadata"]["name"].get<std::string>();
          server.objects["/apis/batch/v1/namespaces/ml/jobs/" + name] = object;
        }
        return Reply{.status = status, .body = "<html>"};
      };
      Machine machine{server.port()};
      machine.submitter()->submit(taxi());
      CHECK(server.objects.size() == 1);
      CHECK(server.count("POST") == (was_made ? 1 : 2));
    }
  }
}

TEST_CASE("an object that has the name is the job only with its label") {
  ApiServer server;
  server.instead = [&](const ReceivedRequest& request, std::size_t) -> std::optional<Reply> {
    if (request.method == "POST") {
      auto object = autopack::parse_json(request.body);
      object["metadata"]["labels"]["autopack-submission"] = "another";
      server.objects["/apis/batch/v1/namespaces/ml/jobs/" +
                     object["metadata"]["name"].get<std::string>()] = object;
    }
    return std::nullopt;
  };
  Machine machine{server.port()};
  CHECK(holds(failure_of([&] { machine.submitter()->submit(taxi()); }), "already exists"));
  CHECK(machine.created.empty());
}

TEST_CASE("a run that is killed leaves a record, and the next one finds its job") {
  ApiServer server;
  Machine machine{server.port()};
  server.instead = [&](const ReceivedRequest& request, std::size_t posts) -> std::optional<Reply> {
    // The first run creates the job and never hears of it.
    if (request.method == "POST" && posts == 1) {
      auto object = autopack::parse_json(request.body);
      server.objects["/apis/batch/v1/namespaces/ml/jobs/" +
                     object["metadata"]["name"].get<std::string>()] = object;
    }
    return posts == 1 ? std::optional{Reply{.drop = true}} : std::nullopt;
  };
  const auto first = failure_of([&] { machine.submitter()->submit(taxi()); });
  CHECK(holds(first, "it is not known whether job"));
  server.instead = {};
  const auto done = machine.submitter()->submit(taxi());
  CHECK(server.objects.size() == 1);
  CHECK(server.count("POST") == 1);
  CHECK(done.name == machine.created.back());
  REQUIRE(machine.reporter.warnings.size() == 1);
  CHECK(holds(machine.reporter.warnings.front().message, "an earlier run"));
}

TEST_CASE("refusals say what is missing, and never show the login") {
  const auto refused = [](int status, const std::string& message, const std::string& type = "") {
    ApiServer server;
    server.instead = [&](const ReceivedRequest& request, std::size_t) -> std::optional<Reply> {
      if (request.method != "POST") {
        return std::nullopt;
      }
      return type.empty() ? refuse(status, "", message + " s3cr3t-token")
                          : Reply{.status = status, .body = message};
    };
    Machine machine{server.port()};
    auto text = failure_of([&] { machine.submitter()->submit(taxi()); });
    CHECK(text.find("s3cr3t") == std::string::npos);
    return text;
  };
  CHECK(holds(refused(401, "Unauthorized"), "the login is that of user `me` of `config`"));
  const auto right = refused(
      403,
      R"(jobs.batch is forbidden: User "alice" cannot create resource "jobs" in API group "batch" in the namespace "ml")");
  CHECK(holds(right, "the right to create jobs.batch in the namespace ml"));
  CHECK(holds(right, "kubectl auth can-i create jobs.batch --namespace=ml"));
  CHECK(holds(refused(404, "404 page not found", "text/plain"), "the cluster refuses it (404)"));
  CHECK(holds(refused(422, "Job.batch is invalid"), "Job.batch is invalid"));
  ApiServer server;
  server.instead = [](const ReceivedRequest& request, std::size_t) -> std::optional<Reply> {
    return request.method == "POST"
               ? std::optional{refuse(404, "NotFound", "namespaces \"ml\" not found")}
               : std::nullopt;
  };
  Machine machine{server.port()};
  CHECK(holds(failure_of([&] { machine.submitter()->submit(taxi()); }),
              "kubectl create namespace ml"));
}

TEST_CASE("an interruption says whether the job exists") {
  for (const bool was_made : {true, false}) {
    Cancellation cancellation;
    ApiServer server;
    server.instead = [&](const ReceivedRequest& request, std::size_t) -> std::optional<Reply> {
      if (request.method == "POST") {
        cancellation.requested = true;
        return was_made ? std::nullopt : std::optional{Reply{.status = 503}};
      }
      return std::nullopt;
    };
    Machine machine{server.port(), &cancellation};
    const auto text = failure_of([&] { machine.submitter()->submit(taxi()); });
    CHECK(holds(text, was_made ? "interrupted; the job was created and continues"
                               : "interrupted; the job was not created"));
    CHECK(machine.created.size() == (was_made ? 1 : 0));
  }
}

TEST_CASE("a cancelled job is deleted with its pods, an ended one is left") {
  ApiServer server;
  Machine machine{server.port()};
  const auto done = machine.submitter()->submit(taxi());
  const auto jobs = machine.jobs();
  CHECK(text_at(jobs->get(*done.name), "state") == "JOB_STATE_PENDING");
  CHECK(text_at(jobs->get("taxi"), "name") == *done.name);
  REQUIRE(jobs->list().size() == 1);
  jobs->cancel(*done.name);
  const auto all = server.requests();
  const auto call = std::ranges::find(all, "DELETE", &ReceivedRequest::method);
  REQUIRE(call != all.end());
  CHECK(autopack::parse_json(call->body) == json{{"apiVersion", "v1"},
                                                 {"kind", "DeleteOptions"},
                                                 {"propagationPolicy", "Foreground"},
                                                 {"preconditions", {{"uid", "u1"}}}});
  CHECK(jobs->get(*done.name).is_null());

  const auto second = machine.submitter()->submit(taxi());
  for (auto& [path, object] : server.objects) {
    object["status"]["conditions"] =
        json::array({{{"type", "Complete"},
                      {"status", "True"},
                      {"lastTransitionTime", "2026-11-26T22:01:00Z"}}});
  }
  jobs->cancel(*second.name);
  CHECK(server.count("DELETE") == 1);
  CHECK(text_at(jobs->get(*second.name), "state") == "JOB_STATE_SUCCEEDED");
}

TEST_CASE("a job of another tool is not ours") {
  ApiServer server;
  server.objects["/apis/batch/v1/namespaces/ml/jobs/x"] = {
      {"metadata", {{"name", "x"}, {"namespace", "ml"}}}};
  Machine machine{server.port()};
  CHECK(machine.jobs()->get("x").is_null());
  CHECK(holds(failure_of([&] { machine.jobs()->cancel("x"); }), "there is no job `x`"));
  CHECK(server.count("DELETE") == 0);
}

TEST_CASE("a followed job prints its log once, and ends as the cluster says") {
  ApiServer server;
  Machine machine{server.port()};
  const auto done = machine.submitter()->submit(taxi());
  const auto path = server.objects.begin()->first;
  auto& object = server.objects.begin()->second;
  object["status"] = {{"ready", 1}};
  const json running{{"name", "trainer"},
                     {"restartCount", 0},
                     {"state", {{"running", {{"startedAt", "2026-11-26T22:00:02Z"}}}}}};
  auto& pod = server.objects["/api/v1/namespaces/ml/pods/p"];
  pod = {{"metadata", {{"name", "p"}, {"uid", "p1"}}},
         {"status", {{"phase", "Running"}, {"containerStatuses", json::array({running})}}}};
  int readings = 0;
  server.instead = [&](const ReceivedRequest& request, std::size_t) -> std::optional<Reply> {
    if (request.target.find("watch=1") != std::string::npos) {
      return Reply{.status = 403, .body = "{}"};
    }
    if (request.target.find("/log?") == std::string::npos) {
      return std::nullopt;
    }
    ++readings;
    if (readings == 1) {
      // The node drops the connection within a line.
      return Reply{.body =
                       "2026-11-26T22:00:03.1Z one\n2026-11-26T22:00:03.5Z two\n"
                       "2026-11-26T22:00:03.5Z two\n2026-11-26T22:00:04Z thr"};
    }
    auto& status = pod["status"]["containerStatuses"][0];
    status["state"] = {
        {"terminated",
         {{"exitCode", 3}, {"reason", "Error"}, {"finishedAt", "2026-11-26T22:00:05Z"}}}};
    object["status"] = {{"conditions", json::array({{{"type", "Failed"},
                                                     {"status", "True"},
                                                     {"reason", "PodFailurePolicy"},
                                                     {"message", "m"}}})}};
    return Reply{.body =
                     "2026-11-26T22:00:03.5Z two\n2026-11-26T22:00:03.5Z two\n"
                     "2026-11-26T22:00:04Z three\n2026-11-26T22:00:04Z end"};
  };
  std::vector<std::string> lines;
  std::vector<std::string> states;
  const auto ended = machine.jobs()->watch(
      {.name = *done.name,
       .with_logs = true,
       .longest_wait = std::chrono::milliseconds{300},
       .changed = [&](const json& job) { states.push_back(text_at(job, "state")); },
       .logged =
           [&](const google::LogEntry& entry) {
             lines.push_back(entry.task + " " + entry.message);
           }});
  CHECK(lines == std::vector<std::string>{"workerpool0-0 one", "workerpool0-0 two",
                                          "workerpool0-0 two", "workerpool0-0 three",
                                          "workerpool0-0 end"});
  CHECK(states == std::vector<std::string>{"JOB_STATE_RUNNING", "JOB_STATE_FAILED"});
  CHECK(ended["error"]["message"] ==
        "The replica workerpool0-0 exited with a non-zero status of 3. Termination reason: Error.");
}

TEST_CASE("a job that is deleted while it is followed was cancelled") {
  ApiServer server;
  Machine machine{server.port()};
  const auto done = machine.submitter()->submit(taxi());
  int reads = 0;
  server.instead = [&](const ReceivedRequest& request, std::size_t) -> std::optional<Reply> {
    if (request.target.find("watch=1") != std::string::npos) {
      return Reply{.status = 403, .body = "{}"};
    }
    if (request.method == "GET" && request.target.find("/batch/v1/") != std::string::npos &&
        ++reads > 1) {
      return not_found("taxi");
    }
    return std::nullopt;
  };
  const auto ended =
      machine.jobs()->watch({.name = *done.name, .longest_wait = std::chrono::milliseconds{300}});
  CHECK(text_at(ended, "state") == "JOB_STATE_CANCELLED");
}

TEST_CASE("the preflight reports all that the cluster would refuse") {
  ApiServer server;
  server.instead = [](const ReceivedRequest& request, std::size_t) -> std::optional<Reply> {
    const auto is = [&](const char* part) {
      return request.target.find(part) != std::string::npos;
    };
    if (request.method == "POST" && is("/pods?")) {
      return refuse(403, "Forbidden",
                    "pods \"x\" is forbidden: error looking up service account ml/t: "
                    "serviceaccount \"t\" not found");
    }
    if (request.method == "POST" && is("/jobs?")) {
      auto reply = refuse(422, "Invalid", "Job.batch is invalid");
      auto body = autopack::parse_json(reply.body);
      body["details"]["causes"] = json::array(
          {{{"field", "spec.template.spec.containers[0].image"}, {"message", "Required value"}},
           {{"field", "spec.template.spec.containers[0].args[0]"}, {"message", "Too long"}}});
      reply.body = body.dump();
      return reply;
    }
    if (is("selfsubjectaccessreviews")) {
      return Reply{.status = 201,
                   .body = request.body.find("\"log\"") == std::string::npos
                               ? R"({"status":{"allowed":true}})"
                               : R"({"status":{"allowed":false}})"};
    }
    if (is("/apis/kueue.x-k8s.io/v1beta2/") && is("workloadpriorityclasses")) {
      return refuse(403, "Forbidden",
                    R"(User "a" cannot get resource "workloadpriorityclasses" in API group "k")");
    }
    if (request.target == "/apis/kueue.x-k8s.io") {
      return Reply{.body = R"({"preferredVersion":{"groupVersion":"kueue.x-k8s.io/v1beta2"}})"};
    }
    return std::nullopt;
  };
  Machine machine{server.port()};
  const auto problems =
      machine.ask(taxi(), {.name_space = "ml", .queue = "q", .priority_class = "p"});
  std::string all;
  for (const auto& problem : problems) {
    all += std::string{to_string(problem.severity)} + " " + problem.text() + "\n";
    CHECK(problem.check == "cluster");
  }
  CHECK(holds(all,
              "error the cluster refuses the image (`spec.template.spec.containers[0].image`): "
              "Required value"));
  CHECK(holds(all, "the cluster refuses the arguments"));
  CHECK(holds(all, "serviceaccount \"t\" not found"));
  CHECK(holds(all, "error the namespace `ml` has no queue `q`"));
  CHECK(holds(all, "unknown could not check workload priority class `p`"));
  CHECK(holds(all, "warning the login lacks the right to get pods/log"));
  CHECK(server.objects.empty());
}

}  // namespace autopack::kubernetes_submit_test
