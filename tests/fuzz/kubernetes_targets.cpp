#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "job/yaml_json.hpp"
#include "kubernetes/api.hpp"
#include "kubernetes/jobs.hpp"
#include "kubernetes/kubeconfig.hpp"
#include "kubernetes/login.hpp"
#include "kubernetes/objects.hpp"
#include "kubernetes/pod_logs.hpp"
#include "kubernetes/pod_template.hpp"
#include "kubernetes/preflight.hpp"
#include "kubernetes/state.hpp"
#include "scratch.hpp"
#include "scripted_http.hpp"
#include "support/recording_reporter.hpp"
#include "target.hpp"

#include <algorithm>
#include <string>

/// What a kubeconfig, its plugins and a cluster say.
namespace autopack::fuzz {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

job::Job some_job() {
  job::Job job{.display_name = "taxi"};
  job.spec.pools = {{.replicas = 2, .container = job::Container{.image = "r/app@sha256:0"}}};
  return job;
}

/// A kubeconfig, byte 0, what a plugin prints. No plugin runs.
void kubeconfig(std::string_view bytes) {
  static const fs::path home = scratch();
  const auto file = put(home / "kubeconfig", next_part(bytes));
  const Environment environment{{{"HOME", home.string()}, {"KUBECONFIG", file.string()}}};
  try {
    const auto access =
        kubernetes::find_access({.environment = &environment, .pod_directory = home / "nothing"});
    if (access.exec) {
      parse_json(kubernetes::exec_info(access));
    }
  } catch (const Error&) {
    // A context that is unusable; there may be others.
  }
  for (const auto& name : kubernetes::context_names(environment)) {
    try {
      kubernetes::find_access(
          {.environment = &environment, .context = name, .pod_directory = home / "nothing"});
    } catch (const Error&) {
      continue;
    }
  }
  kubernetes::read_exec_answer(std::string{bytes},
                               {.api_version = "client.authentication.k8s.io/v1"});
}

/// A fragment of a pod template; what is written as YAML must be the same when it is read.
void pod_template(std::string_view bytes) {
  const auto fragment = job::json_of_yaml(std::string{bytes}, "pod");
  const auto merged = kubernetes::read_pod_template(fragment, "`pod`");
  const auto object =
      kubernetes::make_object(some_job(), {.pod_template = merged}, kubernetes::no_submission);
  const auto text = print_json(object);
  if (parse_json(text) == object && text.size() < 500'000 &&
      job::json_of_yaml(job::yaml_of_json(parse_json(text)), "object") != object) {
    fail("the object is another one as YAML");
  }
}

/// Answers of an API server to a preflight and to the reading of a job.
void kubernetes_answers(std::string_view bytes) {
  const unsigned step = next_byte(bytes);
  ScriptedHttp client{bytes};
  kubernetes::Login login{{.access = {.context = "c", .server = "https://api.example"}}};
  testing::RecordingReporter reporter;
  kubernetes::Api api{{.login = &login,
                       .client = &client,
                       .sleep = [](std::chrono::milliseconds) {},
                       .reporter = &reporter}};
  const auto jobs =
      kubernetes::make_cluster_jobs({.api = &api, .name_space = "ml", .reporter = &reporter});
  switch (step % 4) {
    case 0: kubernetes::ask_cluster(api, some_job(), {.queue = "q"}); break;
    case 1: jobs->list(); break;
    case 2: jobs->get("taxi"); break;
    default: {
      submit::LogCursor cursor;
      kubernetes::LogLines lines{cursor, "workerpool0-0"};
      lines.feed(bytes);
      lines.end();
      kubernetes::words_of_field(json::object(), std::string{bytes});
      kubernetes::ObjectName::parse(bytes);
    }
  }
}

}  // namespace

std::vector<Target> kubernetes_targets() {
  return {{"kubeconfig", kubeconfig},
          {"pod_template", pod_template},
          {"kubernetes_answers", kubernetes_answers}};
}

}  // namespace autopack::fuzz
