#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/cluster_options.hpp"
#include "cli/flags.hpp"
#include "cli/named_files.hpp"
#include "google/service.hpp"
#include "job/yaml_json.hpp"
#include "kubernetes/api.hpp"
#include "kubernetes/jobs.hpp"
#include "kubernetes/kubeconfig.hpp"
#include "kubernetes/login.hpp"
#include "kubernetes/pod_template.hpp"
#include "kubernetes/state.hpp"
#include "kubernetes/submitter.hpp"
#include "services/services.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace autopack::cli {

namespace {

class KubernetesOptions : public ClusterOptions {
public:
  std::string_view submitter() const override { return "kubernetes"; }

  std::vector<std::string_view> own_flags() const override {
    return {"--context",        "--namespace", "--queue",       "--object",
            "--priority-class", "--runtime",   "--pod-template"};
  }

  void add_submit_flags(FlagSet& flags) override;
  void add_jobs_flags(FlagSet& flags) override;
  std::unique_ptr<submit::Submitter> make_submitter(Session& session,
                                                    ClusterSubmission submission) override;
  std::unique_ptr<submit::ClusterJobs> make_jobs(Session& session,
                                                 const std::optional<std::string>& job) override;

private:
  kubernetes::Access access_for(const Session& session) const;
  /// Makes the clients of the cluster.
  kubernetes::Api& connect(Session& session, kubernetes::Access access);
  kubernetes::ObjectOptions object_options() const;

  std::optional<std::string> context_{};
  std::optional<std::string> name_space_{};
  std::optional<std::string> queue_{};
  std::optional<std::string> priority_class_{};
  std::optional<std::string> object_{};
  std::optional<std::string> runtime_{};
  std::optional<std::string> pod_template_{};
  std::unique_ptr<kubernetes::Login> login_{};
  std::unique_ptr<kubernetes::Api> api_{};
  std::unique_ptr<kubernetes::Api> uninterrupted_{};
};

void KubernetesOptions::add_jobs_flags(FlagSet& flags) {
  flags.section("Kubernetes", false);
  flags.text("--context", "NAME", context_,
             "the cluster, by its name in the kubeconfig; default: the current one");
  flags.text("--namespace", "NAME", name_space_, "default: that of the context");
}

void KubernetesOptions::add_submit_flags(FlagSet& flags) {
  add_jobs_flags(flags);
  flags.text("--queue", "NAME", queue_, "the LocalQueue of Kueue in which the job waits");
  flags.text("--priority-class", "NAME", priority_class_,
             "of Kueue with --queue, else of the pods");
  flags.text("--object", "auto|job|jobset|trainjob", object_,
             "auto: a Job for one replica, a JobSet for several");
  flags.text("--runtime", "NAME", runtime_, "ClusterTrainingRuntime of a TrainJob");
  flags.text("--pod-template", "FILE", pod_template_,
             "YAML, merged over each pod: tolerations, volumes, imagePullSecrets, ...");
}

kubernetes::Access KubernetesOptions::access_for(const Session& session) const {
  return kubernetes::find_access({.environment = &session.services.environment,
                                  .context = context_,
                                  .name_space = name_space_});
}

kubernetes::Api& KubernetesOptions::connect(Session& session, kubernetes::Access access) {
  auto& services = session.services;
  login_ = std::make_unique<kubernetes::Login>(
      kubernetes::LoginOptions{.access = std::move(access),
                               .environment = &services.environment,
                               .cancellation = services.cancellation,
                               .google = services.google.function(),
                               .reporter = services.reporter});
  api_ = std::make_unique<kubernetes::Api>(
      kubernetes::ApiOptions{.login = login_.get(),
                             .client = &services.client(),
                             .sleep = google::interruptible_sleep(services.cancellation),
                             .reporter = services.reporter});
  return *api_;
}

kubernetes::ObjectOptions KubernetesOptions::object_options() const {
  kubernetes::ObjectOptions options{
      .queue = queue_, .priority_class = priority_class_, .runtime = runtime_};
  const auto word = object_.value_or("auto");
  options.kind = kubernetes::find_kind(word);
  if (!options.kind && word != "auto") {
    throw Error(ErrorKind::usage, fmt::format("`--object` is `{}`", printable(word)))
        .hint("it is `auto`, `job`, `jobset` or `trainjob`");
  }
  if (pod_template_) {
    const auto& given = *pod_template_;
    // A settings file may contain the template itself.
    const bool is_text = given.find('\n') != std::string::npos || trim(given).starts_with('{');
    const auto name = is_text ? std::string{"pod template"} : given;
    const auto text = is_text ? given : read_named_file("--pod-template", given);
    options.pod_template_origin =
        is_text ? "`--pod-template`" : fmt::format("`{}`", printable(given));
    options.pod_template =
        kubernetes::read_pod_template(job::json_of_yaml(text, name), options.pod_template_origin);
  }
  return options;
}

std::unique_ptr<submit::Submitter> KubernetesOptions::make_submitter(Session& session,
                                                                     ClusterSubmission submission) {
  kubernetes::KubernetesOptions options{
      .object = object_options(),
      .reporter = session.services.reporter,
      .created = std::move(submission.created),
      .records = session.services.environment.cache_directory() / "submissions"};
  try {
    auto access = access_for(session);
    options.object.name_space = access.name_space;
    options.object.is_gke = kubernetes::is_gke(access);
    options.api = &connect(session, std::move(access));
  } catch (const Error& error) {
    if (context_) {
      throw;
    }
    options.object.name_space = name_space_.value_or("default");
    options.no_cluster = error;
  }
  options.uninterrupted = [this, &session]() -> kubernetes::Api& {
    auto of_api = api_->options();
    of_api.client = &session.services.unstoppable_client();
    of_api.sleep = google::interruptible_sleep(nullptr);
    uninterrupted_ = std::make_unique<kubernetes::Api>(std::move(of_api));
    return *uninterrupted_;
  };
  return kubernetes::make_kubernetes_submitter(std::move(options));
}

std::unique_ptr<submit::ClusterJobs> KubernetesOptions::make_jobs(
    Session& session, const std::optional<std::string>& job) {
  if (const auto name = kubernetes::ObjectName::parse(job.value_or(""))) {
    context_ = name->context;
    name_space_ = name->name_space;
  } else if (job && job->find('/') != std::string::npos) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not the name of a job", printable(*job)))
        .hint(
            "a name is kubernetes/CONTEXT/NAMESPACE/NAME; NAME alone is in the current namespace");
  }
  auto access = access_for(session);
  auto name_space = access.name_space;
  return kubernetes::make_cluster_jobs({.api = &connect(session, std::move(access)),
                                        .name_space = std::move(name_space),
                                        .reporter = session.services.reporter,
                                        .cancellation = session.services.cancellation});
}

}  // namespace

std::unique_ptr<ClusterOptions> make_kubernetes_options() {
  return std::make_unique<KubernetesOptions>();
}

}  // namespace autopack::cli
