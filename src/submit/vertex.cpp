#include "base/descriptor.hpp"
#include "base/digest.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/report.hpp"
#include "base/text.hpp"
#include "google/api_error.hpp"
#include "google/jobs.hpp"
#include "http/retry.hpp"
#include "submit/capacity.hpp"
#include "submit/follow_up.hpp"
#include "submit/submission_record.hpp"
#include "submit/submitter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json_fwd.hpp>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

// Creating a job costs money, and the API has no request id. Each submission has a label of its
// own, recorded on disk before the request. After an unclear answer, or in a later run, the label
// shows whether the job exists; only if it does not, the request is sent again.

namespace autopack::submit {

namespace {

namespace fs = std::filesystem;

/// The content of an attempt's record.
std::string record_of(const std::optional<Attempt>& attempt) {
  return attempt && attempt->group ? fmt::format("{} {}\n", *attempt->group, attempt->number) : "";
}

std::optional<Attempt> read_record(const fs::path& file) {
  const auto words = split(trim(read_file_if_exists(file).value_or("")), ' ');
  if (words.size() != 2 || !is_submission_id(words[0]) || words[1].empty() || words[1].size() > 3 ||
      !std::ranges::all_of(words[1], is_digit)) {
    return std::nullopt;
  }
  return Attempt{.group = words[0], .number = std::stoul(words[1])};
}

/// Returns the attempt in the record of `key` that a run left in `directory`.
std::optional<Attempt> find_left_attempt(const fs::path& directory, const std::string& key) {
  std::error_code code;
  for (fs::directory_iterator entry{directory, code}; !code && entry != fs::directory_iterator{};
       entry.increment(code)) {
    const auto& file = entry->path();
    if (file.stem() != key || is_old_record(file)) {
      continue;
    }
    const FileDescriptor lock{::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    const bool is_free = lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
    if (auto attempt = is_free ? read_record(file) : std::nullopt) {
      return attempt;
    }
  }
  return std::nullopt;
}

/// A job to be created exactly once.
struct Creation {
  const google::Jobs* jobs{nullptr};
  google::JobQuery where{};
  std::shared_ptr<const nlohmann::json> body{};  ///< with the label
  /// Returns a client that the user's interruption does not stop, to find out whether a job was
  /// created.
  std::function<http::Client&()> uninterrupted{};
  Reporter* reporter{nullptr};
  /// Gets the job as soon as it is known to exist, even if submit() then fails.
  std::function<void(const google::Job& job)> created{};
  /// An earlier run used this label and ended without a result: it may have created the job.
  bool was_tried{false};
  /// Another machine may have created the job: this looks once before it creates it.
  bool may_exist{false};
  std::optional<fs::path> record{};  ///< of the submission, for messages
  /// Called when the result of the submission is known; may be empty.
  std::function<void()> settled{};
};

using google::Job;
using nlohmann::json;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr int most_creates = 4;
/// A job may appear in the list a little after its creation. Waits before each attempt.
constexpr std::array looks{0ms, 1000ms, 3000ms};
constexpr std::size_t hurried_looks = 2;

std::string label_of(const json& job) {
  const auto labels = job.find("labels");
  return labels == job.end() ? "" : text_at(*labels, submission_label);
}

std::string display_name(const Creation& creation) {
  return printable(text_at(*creation.body, "displayName"));
}

std::string label_filter(const Creation& creation) {
  return fmt::format("labels.{}=\"{}\"", submission_label, label_of(*creation.body));
}

/// Returns the jobs with the label. Filters by name in collections that cannot filter by label.
std::vector<Job> labelled_jobs(const google::Jobs& jobs, const Creation& creation) {
  std::vector<Job> found;
  const auto search = [&](const std::string& filter) {
    auto query = creation.where;
    query.filter = filter;
    jobs.list(query, [&](const Job& job) {
      if (label_of(*job) == label_of(*creation.body)) {
        found.push_back(job);
      }
      return true;
    });
  };
  try {
    search(label_filter(creation));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::remote || creation.where.kind != google::JobKind::pipeline) {
      throw;
    }
    search("display_name=" + json(text_at(*creation.body, "displayName")).dump());
  }
  return found;
}

Job look(const google::Jobs& jobs, const Creation& creation, std::span<const milliseconds> waits) {
  for (const auto wait : waits) {
    if (wait > 0ms) {
      jobs.service().options().sleep(wait);
    }
    if (const auto found = labelled_jobs(jobs, creation); !found.empty()) {
      return found.front();
    }
  }
  return nullptr;
}

std::string list_command(const Creation& creation) {
  return fmt::format("autopack jobs list --project={} --region={} --filter={}",
                     shell_quote(creation.where.project), shell_quote(creation.where.region),
                     shell_quote(label_filter(creation)));
}

Error unclear(const Creation& creation, const std::vector<std::string>& causes) {
  Error error{ErrorKind::remote,
              fmt::format("it is not known whether job `{}` was created", display_name(creation))};
  for (const auto& cause : causes) {
    error.cause(cause);
  }
  error.hint("look before you submit again: " + list_command(creation));
  if (creation.was_tried && creation.record) {
    error.hint("to submit again, whatever it shows: rm " + shell_quote(creation.record->string()));
  }
  return error;
}

void settle(const Creation& creation) {
  if (creation.settled) {
    creation.settled();
  }
}

/// The result of a create that returned no job.
struct FailedCreate {
  bool may_have_made_one{false};
  std::vector<std::string> causes{};
  std::optional<milliseconds> wait{};  ///< requested by the service
};

/// Returns the wait that a busy service requests; nothing if there is none or it is too long.
std::optional<milliseconds> asked_wait(const http::Response& response, int tries) {
  const auto retry_after = response.header("retry-after").value_or("");
  if (response.status != 429 || retry_after.empty() || tries >= most_creates) {
    return std::nullopt;
  }
  return http::retry_delay({.number = tries, .status = 429, .retry_after = retry_after}, 0.5,
                           std::time(nullptr));
}

FailedCreate failed_create(const http::TransportError& error) {
  using Reason = http::TransportError::Reason;
  if (error.reason() == Reason::tls) {
    throw error;
  }
  FailedCreate failed{
      .may_have_made_one = error.reason() != Reason::connect && error.reason() != Reason::resolve,
      .causes = {error.message()}};
  failed.causes.insert(failed.causes.end(), error.causes().begin(), error.causes().end());
  return failed;
}

/// The response may come from a proxy in front of a service that has created the job.
bool is_unclear(int status) {
  return status == 408 || status >= 500;
}

/// Sends one create. Returns the job, or fills in `failed`. Throws if the service surely refused.
Job try_create(const Creation& creation, int tries, FailedCreate& failed) {
  const auto call = creation.jobs->create_call(creation.where, write_json(*creation.body));
  try {
    const auto response = creation.jobs->service().send(call);
    if (response.ok()) {
      try {
        return google::read_job(call, response);
      } catch (const Error& error) {
        failed = {.may_have_made_one = true, .causes = error.causes()};
        return nullptr;
      }
    }
    auto refused = google::refusal("Vertex AI refused the job", call, response);
    if (const auto wait = asked_wait(response, tries)) {
      failed = {.causes = refused.causes(), .wait = wait};
      return nullptr;
    }
    if (!is_unclear(response.status)) {
      settle(creation);
      if (lacks_capacity(google::read_api_error(response))) {
        throw RegionRefused{std::move(refused)};
      }
      throw refused;
    }
    failed = {.may_have_made_one = true, .causes = refused.causes()};
  } catch (const http::TransportError& error) {
    failed = failed_create(error);
  }
  return nullptr;
}

/// An earlier attempt may take effect long after its response was lost: this cancels its job.
void cancel_twins(const Creation& creation, const Job& job) {
  const auto own = google::JobName::parse(text_at(*job, "name"));
  for (const auto& other : labelled_jobs(*creation.jobs, creation)) {
    const auto name = google::JobName::parse(text_at(*other, "name"));
    if (!own || !name || name->id == own->id) {
      continue;
    }
    creation.jobs->cancel(*name);
    creation.reporter->warn(Problem::warning(
        {.message = fmt::format("an earlier try had made `{}` after all: it is cancelled",
                                name->text())}));
  }
}

/// The job exists, so failures are only warnings.
void try_cancel_twins(const Creation& creation, const Job& job) {
  try {
    cancel_twins(creation, job);
  } catch (const Error& error) {
    creation.reporter->warn(Problem::warning(
        {.message = fmt::format("{}: an earlier try may have made a second job", error.message()),
         .hints = {"look: " + list_command(creation)}}));
  }
}

/// Returns the job with the label, if any. `causes` say why we look for it.
Job find(const Creation& creation, const std::vector<std::string>& causes) {
  try {
    return look(*creation.jobs, creation, looks);
  } catch (const Error& error) {
    throw unclear(creation, causes).cause(error.message());
  }
}

/// Returns the job of an earlier run that ended before it could report it.
Job find_earlier(const Creation& creation) {
  creation.reporter->detail("an earlier run of this submission was ended: looking for its job");
  auto job = find(creation, {"an earlier run was interrupted while it created the job"});
  if (job) {
    creation.reporter->warn(Problem::warning(
        {.message =
             fmt::format("an earlier run, which ended before it could report it, had created `{}`: "
                         "that is the job",
                         printable(text_at(*job, "name")))}));
  }
  return job;
}

Job create(const Creation& creation) {
  if (creation.was_tried) {
    if (auto job = find_earlier(creation)) {
      return job;
    }
  } else if (creation.may_exist) {
    if (auto job = look(*creation.jobs, creation, std::span{looks}.first(1))) {
      return job;
    }
  }
  bool may_have_twins = creation.was_tried;
  for (int tries = 1;; ++tries) {
    FailedCreate failed;
    if (auto job = try_create(creation, tries, failed)) {
      if (may_have_twins) {
        try_cancel_twins(creation, job);
      }
      return job;
    }
    may_have_twins = may_have_twins || failed.may_have_made_one;
    if (failed.may_have_made_one) {
      creation.reporter->detail(
          "the response to the create is unclear: looking for the job by its label");
      if (auto found = find(creation, failed.causes)) {
        return found;
      }
    }
    if (tries == most_creates) {
      Error error{ErrorKind::remote,
                  fmt::format("job `{}` could not be created", display_name(creation))};
      for (const auto& cause : failed.causes) {
        error.cause(cause);
      }
      throw error;
    }
    creation.jobs->service().options().sleep(failed.wait.value_or(milliseconds{500 * tries}));
  }
}

/// Returns the error for an interruption, which states whether the job exists.
Interrupted interruption(const Creation& creation) {
  creation.reporter->warn(
      Problem::warning({.message = "interrupted while the job was being created: asking whether "
                                   "it exists (interrupt again to exit at once)"}));
  try {
    auto service = creation.jobs->service().over(creation.uninterrupted());
    const auto found =
        look(creation.jobs->over(service), creation, std::span{looks}.first(hurried_looks));
    if (found) {
      creation.created(found);
      settle(creation);
      return Interrupted{with_follow_up(
          Error(ErrorKind::interrupted, "interrupted; the job was created and continues"), *found)};
    }
    settle(creation);
    return Interrupted{Error(ErrorKind::interrupted, "interrupted; the job was not created")};
  } catch (const Error& error) {
    const auto because = unclear(creation, {error.message()});
    return Interrupted{Error(ErrorKind::interrupted, "interrupted; " + because.message())
                           .cause(error.message())
                           .hint(because.hints().front())};
  }
}

/// Creates the job. The API's create has no request id. So after a lost or unclear response this
/// lists the jobs with the label: an existing one is the result; only if there is none, it sends
/// the create again, with the same label. Throws Error(remote) if the service refuses or the result
/// stays unclear. Interrupted states whether the job exists.
Job create_once(const Creation& creation) {
  // An interruption before anything is sent leaves nothing to clarify.
  creation.jobs->service().fetch_token();
  try {
    auto job = create(creation);
    creation.created(job);
    settle(creation);
    return job;
  } catch (const Interrupted&) {
    throw interruption(creation);
  }
}

/// Returns the submission's id of a later attempt. All machines derive the same one, so that they
/// find its job.
std::string later_id(const Attempt& attempt) {
  return sha256(attempt.group.value() + "\n" + attempt.place).hex().substr(0, 32);
}

class VertexSubmitter final : public Submitter {
public:
  explicit VertexSubmitter(VertexOptions options)
      : options_{std::move(options)}, jobs_{*options_.service, options_.endpoint_override} {}

  Problems check(const job::Job& /*job*/) const override {
    return job::missing_parts(options_.location);
  }

  void make_ready() override { options_.service->make_ready(); }

  PreparedRequest prepare(const job::Job& job) const override;
  SubmittedJob submit(const job::Job& job) override;

  std::optional<Attempt> left_attempt(const job::Job& job) const override {
    return options_.records ? find_left_attempt(*options_.records, key_of(job)) : std::nullopt;
  }

private:
  /// Returns the name of a submission's record: the same job in the same place has the same.
  std::string key_of(const job::Job& job) const {
    return sha256(jobs_.create_call(where(job), {}).url + "\n" + write_json(job::resource(job)))
        .hex();
  }

  google::JobQuery where(const job::Job& job) const {
    return {.project = options_.location.project.value(),
            .region = options_.location.region.value(),
            .kind = google::kind_of(job::collection_of(job.kind)).value()};
  }

  VertexOptions options_;
  google::Jobs jobs_;
};

PreparedRequest VertexSubmitter::prepare(const job::Job& job) const {
  const auto call = jobs_.create_call(where(job), {});
  return {.method = call.method,
          .url = call.url,
          .body = std::make_shared<const json>(job::resource(job))};
}

SubmittedJob VertexSubmitter::submit(const job::Job& job) {
  const auto& attempt = options_.attempt;
  const bool is_later = attempt && attempt->group;
  Submission submission{options_.records, key_of(job),
                        is_later ? later_id(*attempt) : new_submission_id(), record_of(attempt)};
  auto body = job::resource(job);
  auto& labels = body["labels"];
  labels[submission_label] = submission.id();
  std::optional<std::string> group;
  if (attempt) {
    group = attempt->group.value_or(submission.id());
    labels[group_label] = *group;
    labels[attempt_label] = std::to_string(attempt->number);
    for (const auto& [name, value] : attempt->labels) {
      labels[name] = value;
    }
  }
  const auto as_submitted = [&](const google::Job& answer) {
    return SubmittedJob{
        .name = printable(text_at(*answer, "name")), .group = group, .answer = answer};
  };
  return as_submitted(create_once(
      {.jobs = &jobs_,
       .where = where(job),
       .body = std::make_shared<const json>(std::move(body)),
       .uninterrupted = options_.uninterrupted,
       .reporter = options_.reporter,
       .created = [&](const google::Job& answer) { options_.created(as_submitted(answer)); },
       .was_tried = submission.is_left(),
       .may_exist = is_later,
       .record = submission.file(),
       .settled = [&] { submission.settle(); }}));
}

}  // namespace

std::unique_ptr<Submitter> make_vertex_submitter(VertexOptions options) {
  return std::make_unique<VertexSubmitter>(std::move(options));
}

}  // namespace autopack::submit
