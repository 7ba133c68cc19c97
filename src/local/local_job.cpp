#include "local/local_job.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "image/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

namespace autopack::local {

using nlohmann::json;

namespace {

/// Creates a directory for the job's output, unless the user named one.
void make_output(const job::Spec& spec, const JobRecord& record, HostResources& host) {
  if (!output_in_containers(spec)) {
    return;
  }
  const auto output = record.directory() / "output";
  host.output = output.string();
  std::error_code failure;
  std::filesystem::create_directories(output, failure);
  if (failure) {
    throw Error(ErrorKind::environment, fmt::format("cannot make `{}`", *host.output))
        .cause(failure.message());
  }
}

std::size_t sum(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

}  // namespace

LocalJob::LocalJob(const job::Job& job, LocalOptions& options)
    : job_{job},
      options_{options},
      containers_{&options.docker().containers()},
      record_{options.resumed ? *options.resumed : JobRecords{options.records}.make()},
      log_{record_},
      resource_{std::make_shared<json>(job::resource(job))} {
  containers_->remove_left(job_label);
  const auto before = record_.job();
  record_.own();
  set("name", record_.name());
  set("createTime", now().text());
  for (const auto* kept : {"createTime", "startTime", "trials"}) {
    if (options.resumed && before.is_object() && before.contains(kept)) {
      set(kept, before[kept]);
    }
  }
  enter("PENDING");
  try {
    make_output(job.spec, record_, options.host);
    pull_images();
  } catch (const Interrupted& stop) {
    end({.state = "JOB_STATE_CANCELLED", .status = 1, .code = 1, .message = stop.what()});
    throw;
  } catch (const Error& error) {
    end({.state = "JOB_STATE_FAILED", .status = 1, .code = 13, .message = error.message()});
    throw;
  }
  report_limits();
}

void LocalJob::set(const std::string& key, json value) {
  (*resource_)[key] = std::move(value);
}

void LocalJob::enter(std::string_view state) {
  const auto time = now().text();
  const auto* prefix = job::is_pipeline(job_.kind) ? "PIPELINE_STATE_" : "JOB_STATE_";
  set("state", std::string{prefix} + std::string{state});
  set("updateTime", time);
  if (state == "RUNNING" && !resource_->contains("startTime")) {
    set("startTime", time);
  }
  record_.put(*resource_);
}

void LocalJob::end(const Ending& ending) {
  set("endTime", now().text());
  if (ending.code != 0) {
    const auto message = ending.message.value_or("");
    set("error", json{{"code", ending.code}, {"message", message}});
    const std::lock_guard lock{writing_};
    log_.write({.time = now(),
                .insert_id = {},
                .severity = "ERROR",
                .task = "service",
                .message = message});
  }
  enter(std::string_view{ending.state}.substr(std::string_view{"JOB_STATE_"}.size()));
}

std::vector<std::size_t> LocalJob::counts() const {
  return limited_counts(replica_counts(job_.spec), options_.most_replicas);
}

ClusterRun LocalJob::run_of(const job::Spec& spec, const Cluster& cluster, Watcher& watcher) const {
  ClusterRun run{.containers = containers_,
                 .cluster = cluster,
                 .restart_policy = RestartPolicy{spec.scheduling},
                 .faults = options_.faults,
                 .cancellation = options_.cancellation,
                 .is_asked_for_end = [this] { return record_.is_asked_for_end(); },
                 .cancelling =
                     [this](std::chrono::seconds grace) {
                       if (!is_cancelling_.exchange(true)) {
                         const bool by_signal = options_.cancellation->requested;
                         options_.reporter->done(
                             "Cancelling",
                             fmt::format("the program has {} s to end{}", grace.count(),
                                         by_signal ? "; Ctrl-C again kills it" : ""));
                       }
                     },
                 .watcher = &watcher,
                 .watches_usage = static_cast<bool>(options_.screen.live)};
  std::ranges::stable_sort(run.faults,
                           [](const Fault& a, const Fault& b) { return a.after < b.after; });
  return run;
}

void LocalJob::pull_images() const {
  std::set<std::string> images;
  for (const auto& pool : job_.spec.pools) {
    if (pool.package) {
      images.insert(pool.package->executor_image.value_or(""));
    } else if (pool.container) {
      images.insert(pool.container->image.value_or(""));
    }
  }
  auto& docker = options_.docker();
  for (const auto& name : images) {
    if (!docker.inspect(name)) {
      docker.pull(image::Reference::parse(name), "");
    }
  }
}

void LocalJob::report_limits() const {
  const auto wanted = sum(replica_counts(job_.spec));
  const auto given = sum(counts());
  if (given < wanted) {
    options_.reporter->warn(
        Problem::warning({.message = fmt::format(
                              "{} of the job's {} replicas run here; its environment describes {}",
                              given, wanted, given),
                          .origin = "`--max-replicas`"}));
  }
  if (options_.host.output) {
    options_.reporter->done("Output", *options_.host.output);
  }
}

}  // namespace autopack::local
