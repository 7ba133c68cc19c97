#include "kubernetes/jobs.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "kubernetes/observe.hpp"
#include "kubernetes/pod_logs.hpp"
#include "kubernetes/state.hpp"
#include "submit/consecutive_failures.hpp"
#include "submit/follow_up.hpp"
#include "submit/job_state.hpp"
#include "submit/poll_interval.hpp"
#include "submit/submitter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace autopack::kubernetes {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using std::chrono::milliseconds;

/// How long the last lines of an ended job may take.
constexpr milliseconds longest_end{60'000};
constexpr int most_unread = 3;
/// An ended job that writes nothing for so long has written all.
constexpr milliseconds quiet_end{2'000};
/// The cluster may change a job many times in a second.
constexpr milliseconds shortest_wait{250};
constexpr milliseconds cancellation_look{200};

milliseconds now() {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

json of_found(Observer& observer, const Api& api, const FoundObject& found) {
  return job_of(observer.look(found), api.login().access().context);
}

/// Follows one job.
class Watcher {
public:
  Watcher(const JobsOptions& options, const submit::ClusterWatch& watch, std::string name)
      : options_{options},
        watch_{watch},
        name_{std::move(name)},
        observer_{*options.api, options.name_space},
        logs_{*options.api, options.name_space, watch.follows},
        interval_{watch.longest_wait},
        failures_{now} {}

  json run();

private:
  bool look();
  void follow_logs(const json& pods);
  bool emit(milliseconds longest);
  void wait(milliseconds time);
  void finish_logs();

  bool has_ended() const { return submit::state_of(job_).ended; }

  void lost_sight(const Error& error, const std::optional<std::string>& retry_after);

  const JobsOptions& options_;
  const submit::ClusterWatch& watch_;
  std::string name_;
  Observer observer_;
  PodLogs logs_;
  submit::PollInterval interval_;
  submit::ConsecutiveFailures failures_;
  std::optional<ObjectKind> kind_{};
  json job_{};
  bool reported_left_out_{false};
  int unread_pods_{0};  ///< consecutive looks that could not list the pods, whose logs are followed
  milliseconds last_entry_{now()};
};

void Watcher::lost_sight(const Error& error, const std::optional<std::string>& retry_after) {
  if (failures_.happened(retry_after)) {
    options_.reporter->warn(Problem::warning(
        {.message = fmt::format("{}: trying again (the job is not affected)", error.message())}));
  }
  if (failures_.lasts_too_long()) {
    throw error;
  }
}

void Watcher::follow_logs(const json& pods) {
  for (const auto& pod : pods) {
    const auto log = readable_log(pod);
    if (log && (!watch_.task || *watch_.task == log->replica)) {
      logs_.follow(*log);
    }
  }
  if (logs_.left_out() > 0 && !reported_left_out_) {
    reported_left_out_ = true;
    options_.reporter->warn(
        Problem::warning({.message = "the job has too many replicas: autopack shows the logs of "
                                     "some of them",
                          .hints = {"choose one: --task-name=workerpool0-0"}}));
  }
}

/// Reads the job. Returns true if its state or its detail has changed.
bool Watcher::look() {
  if (!failures_.may_retry()) {
    return false;
  }
  try {
    std::optional<FoundObject> found;
    if (!kind_) {
      found = observer_.find(name_);
      if (!found) {
        throw Error(ErrorKind::usage, fmt::format("there is no job `{}`", printable(watch_.name)))
            .hint("list them: autopack jobs list --submitter=kubernetes");
      }
      kind_ = found->kind;
    } else {
      const auto call = observer_.object_call(*kind_, name_);
      const auto response = options_.api->send(call);
      if (google::is_passing(response.status)) {
        lost_sight(refusal(call, response, options_.api->login()), response.header("retry-after"));
        return false;
      }
      if (response.status != 404) {
        found = FoundObject{.kind = *kind_,
                            .object = std::make_shared<const json>(
                                read_object(call, response, options_.api->login()))};
      }
    }
    if (failures_.ended()) {
      options_.reporter->detail("the cluster answers again");
    }
    const auto before = job_;
    if (found) {
      const auto seen = observer_.look(*found);
      job_ = job_of(seen, options_.api->login().access().context);
      if (watch_.with_logs && seen.pods) {
        unread_pods_ = 0;
        follow_logs(*seen.pods);
      } else if (watch_.with_logs) {
        ++unread_pods_;
      }
    } else {
      job_ = vanished(job_);
    }
    const bool is_new = before.is_null() || text_at(before, "state") != text_at(job_, "state") ||
                        text_at(before, "detail") != text_at(job_, "detail");
    if (is_new && watch_.changed) {
      watch_.changed(job_);
    }
    return is_new;
  } catch (const http::TransportError& error) {
    lost_sight(error, std::nullopt);
    return false;
  }
}

/// Prints what arrives within this time. Returns true if there was an entry.
bool Watcher::emit(milliseconds longest) {
  const auto entries = logs_.next(longest);
  if (!entries.empty()) {
    last_entry_ = now();
  }
  for (const auto& entry : entries) {
    if (watch_.logged) {
      watch_.logged(entry);
    }
  }
  for (const auto& problem : logs_.take_problems()) {
    options_.reporter->warn(problem);
  }
  if (options_.cancellation != nullptr) {
    options_.cancellation->throw_if_requested();
  }
  return !entries.empty();
}

/// Prints what arrives until the time is over or something has changed.
void Watcher::wait(milliseconds time) {
  const auto begin = now();
  bool changed = false;
  while (now() - begin < (changed ? std::min(time, shortest_wait) : time)) {
    emit(std::clamp(begin + (changed ? shortest_wait : time) - now(), 1ms, cancellation_look));
    changed = logs_.take_change() || changed;
  }
}

/// The streams of an ended job end by themselves, but a node may keep one open.
void Watcher::finish_logs() {
  const auto begin = now();
  bool is_finishing = !watch_.follows;
  while (!logs_.is_done() && now() - begin < longest_end) {
    const bool is_quiet = !emit(cancellation_look);
    if (!is_finishing && is_quiet && now() - last_entry_ > quiet_end) {
      is_finishing = true;
      logs_.finish();
    }
  }
  emit(0ms);
}

json Watcher::run() {
  look();
  if (kind_ && watch_.follows && !job_.is_null() && !has_ended()) {
    logs_.wake_at_changes(observer_.pods_path(), Observer::pods_query(*kind_, name_));
    logs_.wake_at_changes(observer_.collection(*kind_),
                          "fieldSelector=" + percent_encode("metadata.name=" + name_));
  }
  for (bool is_new = true;;) {
    const bool has_pods = unread_pods_ == 0 || unread_pods_ > most_unread;
    if (!job_.is_null() && (has_ended() || !watch_.follows) && has_pods) {
      finish_logs();
      if (unread_pods_ > 0) {
        options_.reporter->warn(Problem::warning(
            {.message =
                 "the pods of the job cannot be listed, so that its log may be incomplete"}));
      }
      return job_;
    }
    wait(std::max(interval_.next(is_new), shortest_wait));
    is_new = look();
  }
}

class KubernetesJobs final : public submit::ClusterJobs {
public:
  explicit KubernetesJobs(JobsOptions options)
      : options_{std::move(options)}, observer_{*options_.api, options_.name_space} {}

  std::vector<json> list() override;
  json get(const std::string& name) override;
  void cancel(const std::string& name) override;
  json watch(const submit::ClusterWatch& watch) override;

private:
  /// Returns the name of the object in `name`, which may be whole.
  static std::string object_of(const std::string& name) {
    const auto parsed = ObjectName::parse(name);
    return parsed ? parsed->name : name;
  }

  std::vector<FoundObject> all();

  JobsOptions options_;
  Observer observer_;
};

std::vector<FoundObject> KubernetesJobs::all() {
  std::vector<FoundObject> found;
  std::optional<Error> failure;
  bool could_read = false;
  for (const auto& facts : all_kinds()) {
    const ApiCall call{.what = "list the jobs",
                       .path = observer_.collection(facts.kind),
                       .query = fmt::format("labelSelector={}", submit::submission_label)};
    auto first = call;
    first.query += "&limit=1";
    const auto response = options_.api->ask(first);
    if (!response.ok()) {
      could_read = could_read || response.status == 404;
      if (response.status != 404 && !failure) {
        failure = refusal(call, response, options_.api->login());
      }
      continue;
    }
    could_read = true;
    for (auto& object : options_.api->list(call)) {
      // A TrainJob's JobSet may have its labels.
      if (!is_ours(object) || object["metadata"].contains("ownerReferences")) {
        continue;
      }
      found.push_back(
          {.kind = facts.kind, .object = std::make_shared<const json>(std::move(object))});
    }
  }
  if (!could_read && failure) {
    throw Error{*failure};
  }
  return found;
}

std::vector<json> KubernetesJobs::list() {
  std::vector<json> jobs;
  for (const auto& found : all()) {
    jobs.push_back(job_of({.kind = found.kind, .object = found.object},
                          options_.api->login().access().context));
  }
  std::ranges::stable_sort(jobs, [](const json& a, const json& b) {
    return text_at(a, "createTime") > text_at(b, "createTime");
  });
  return jobs;
}

json KubernetesJobs::get(const std::string& name) {
  const auto object = object_of(name);
  if (const auto found = observer_.find(object)) {
    return of_found(observer_, *options_.api, *found);
  }
  if (object != name) {
    return nullptr;
  }
  std::vector<FoundObject> named;
  for (auto& found : all()) {
    const auto job = job_of({.kind = found.kind, .object = found.object}, "");
    if (text_at(job, "displayName") == name) {
      named.push_back(std::move(found));
    }
  }
  if (named.size() > 1) {
    Error error{ErrorKind::usage,
                fmt::format("{} jobs have the name `{}`", named.size(), printable(name))};
    for (const auto& found : named) {
      error.hint("name one of them: " + text_at((*found.object)["metadata"], "name"));
    }
    throw error;
  }
  return named.empty() ? json{} : of_found(observer_, *options_.api, named.front());
}

void KubernetesJobs::cancel(const std::string& name) {
  const auto found = observer_.find(object_of(name));
  if (!found) {
    throw Error(ErrorKind::usage, fmt::format("there is no job `{}`", printable(name)))
        .hint("list them: autopack jobs list --submitter=kubernetes");
  }
  const auto job = job_of({.kind = found->kind, .object = found->object}, "");
  if (submit::state_of(job).ended) {
    return;
  }
  // Without a policy the pods of a Job would run on. The uid protects another job with the name.
  const auto& metadata = (*found->object)["metadata"];
  const json body{{"apiVersion", "v1"},
                  {"kind", "DeleteOptions"},
                  {"propagationPolicy", "Foreground"},
                  {"preconditions", {{"uid", text_at(metadata, "uid")}}}};
  auto call = observer_.object_call(found->kind, text_at(metadata, "name"));
  call.what = "cancel the job";
  call.method = "DELETE";
  call.body = write_json(body);
  const auto response = options_.api->ask(call);
  if (!response.ok() && response.status != 404) {
    throw refusal(call, response, options_.api->login());
  }
}

json KubernetesJobs::watch(const submit::ClusterWatch& watch) {
  try {
    return Watcher{options_, watch, object_of(watch.name)}.run();
  } catch (const Interrupted&) {
    throw Interrupted{submit::with_follow_up(
        Error(ErrorKind::interrupted, "interrupted; the job continues"), {{"name", watch.name}})};
  } catch (const Error& error) {
    throw error.kind() == ErrorKind::usage ? error
                                           : submit::with_follow_up(error, {{"name", watch.name}});
  }
}

}  // namespace

std::unique_ptr<submit::ClusterJobs> make_cluster_jobs(JobsOptions options) {
  return std::make_unique<KubernetesJobs>(std::move(options));
}

}  // namespace autopack::kubernetes
