#include "preflight/checks.hpp"

#include "base/url.hpp"

#include <fmt/format.h>

#include <utility>

namespace autopack::preflight {

namespace {

class Collector {
public:
  Collector(const PlannedJob& job, const Sources& sources) : job_{job}, sources_{sources} {}

  using Plain = Problems (*)(const PlannedJob&, const Sources&);

  void add(std::string name, std::string what, Plain check) {
    add(std::move(name), std::move(what),
        [check, &job = job_, &sources = sources_] { return check(job, sources); });
  }

  void add(std::string name, std::string what, std::function<Problems()> run) {
    checks_.push_back({.name = std::move(name), .what = std::move(what), .run = std::move(run)});
  }

  std::vector<Check> take() { return std::move(checks_); }

private:
  const PlannedJob& job_;
  const Sources& sources_;
  std::vector<Check> checks_{};
};

/// Skips remote registries for jobs that run on this machine, and because Docker Hub counts each
/// request for an image.
bool may_ask(const image::Reference& image, const Sources& sources) {
  return image.is_loopback() ||
         (!sources.apis->endpoints().is_stand_in() && image.host != "docker.io");
}

void add_images(Collector& collector, const PlannedJob& job, const Sources& sources) {
  auto names = job.ready_images();
  const bool has_executor = job.packaged && job.packaged->executor;
  if (has_executor) {
    names.push_back(*job.packaged->executor);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (image::Reference::fault(names[i])) {
      continue;
    }
    const auto image = image::Reference::parse(names[i]);
    const bool is_executor = has_executor && i + 1 == names.size();
    if (may_ask(image, sources) && (!is_executor || image.names_registry())) {
      const auto pools = job.pools_of(is_executor ? std::nullopt : std::optional{names[i]});
      collector.add("image", fmt::format("image `{}`", names[i]),
                    [image, pools, &sources] { return check_remote_image(image, pools, sources); });
    }
    if (!is_executor) {
      collector.add("image-reader",
                    fmt::format("whether the service agent may read `{}`", names[i]),
                    [image, &job, &sources] { return check_image_reader(image, job, sources); });
    }
  }
}

}  // namespace

std::vector<Check> online_checks(const PlannedJob& job, const Sources& sources) {
  Collector collector{job, sources};
  const auto& project = job.project();
  collector.add("project", fmt::format("project `{}`", project), check_project);
  collector.add("api", "whether the APIs are on", check_services);
  collector.add("permission", fmt::format("whether you may create jobs in `{}`", project),
                check_permissions);
  for (const auto& need : quota_needs(job)) {
    collector.add("quota", fmt::format("quota `{}` in `{}`", need.metric, job.region()),
                  [need, &job, &sources] { return check_quota(need, job, sources); });
  }
  if (job.service_account) {
    collector.add("service-account", fmt::format("service account `{}`", *job.service_account),
                  check_service_account);
    collector.add("logs", fmt::format("whether `{}` may write logs", *job.service_account),
                  check_log_writer);
  }
  if (job.packaged) {
    const auto& target = job.packaged->target;
    collector.add("repository", fmt::format("repository of `{}`", target.text), check_repository);
    if (may_ask(target, sources) || !sources.apis->endpoints().is_stand_in()) {
      collector.add("registry-login", fmt::format("whether `{}` accepts a push", target.host),
                    check_push);
    }
    collector.add(
        "image-reader", fmt::format("whether the service agent may read `{}`", target.text),
        [&job, &sources] { return check_image_reader(job.packaged->target, job, sources); });
  }
  add_images(collector, job, sources);
  for (const auto& bucket : job.buckets) {
    collector.add("bucket", fmt::format("bucket `{}`", bucket),
                  [bucket, &job, &sources] { return check_bucket(bucket, job, sources); });
  }
  if (job.tensorboard) {
    collector.add("tensorboard", "the TensorBoard", check_tensorboard);
  }
  if (job.network) {
    collector.add("network", fmt::format("network `{}`", *job.network), check_network);
  }
  if (job.persistent_resource) {
    collector.add("persistent-resource", "the persistent resource", check_persistent_resource);
  }
  return collector.take();
}

}  // namespace autopack::preflight
