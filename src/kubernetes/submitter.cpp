#include "kubernetes/submitter.hpp"

#include "base/digest.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "http/retry.hpp"
#include "job/yaml_json.hpp"
#include "kubernetes/preflight.hpp"
#include "kubernetes/state.hpp"
#include "submit/submission_record.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

// The name of the object is ours, so the API server accepts it only once. But quotas and policies
// answer before it looks at the name: a used-up quota refuses the second POST of a job that the
// first one created. So after an unclear answer the name is read first.

namespace autopack::kubernetes {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr int most_creates = 4;
constexpr milliseconds step{500};

std::string label_of(const json& object) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->contains("labels")) {
    return {};
  }
  return text_at((*metadata)["labels"], submit::submission_label);
}

bool is_being_deleted(const json& object) {
  return object.contains("metadata") && object["metadata"].contains("deletionTimestamp");
}

/// The response may come from a proxy in front of a server that has created the object.
bool is_unclear(int status) {
  return status == 408 || status >= 500;
}

/// An object to be created exactly once.
class Creation {
public:
  Creation(const KubernetesOptions& options, ObjectKind kind, json object)
      : options_{options},
        facts_{facts_of(kind)},
        object_{std::move(object)},
        name_{text_at(object_["metadata"], "name")} {}

  /// Returns the created object. `was_tried`: an earlier run may have created it.
  json run(bool was_tried);

  /// Returns the object if it exists and is ours; null otherwise.
  json look(Api& api) const;

  /// Returns true if an answer was unclear.
  bool may_exist() const { return may_exist_; }

  std::string job_name() const {
    return ObjectName{.context = options_.api->login().access().context,
                      .name_space = options_.object.name_space,
                      .name = name_}
        .text();
  }

private:
  std::string collection() const {
    return collection_path(facts_.version, options_.object.name_space, std::string{facts_.plural});
  }

  /// Returns the object of one try, or null with its causes.
  json try_create(std::vector<std::string>& causes, std::optional<milliseconds>& wait);
  json of_clash(const ApiCall& call, const http::Response& response) const;
  Error unclear(const std::vector<std::string>& causes) const;

  const KubernetesOptions& options_;
  const KindFacts& facts_;
  json object_;
  std::string name_;
  bool may_exist_{false};
};

json Creation::look(Api& api) const {
  auto found =
      api.find({.what = "look for the job", .path = collection() + "/" + percent_encode(name_)});
  return found.is_object() && label_of(found) == label_of(object_) ? found : json{};
}

/// Returns the object that has the name already, if it is the one of this submission.
json Creation::of_clash(const ApiCall& call, const http::Response& response) const {
  auto found = options_.api->find(
      {.what = "look for the job", .path = collection() + "/" + percent_encode(name_)});
  if (found.is_object() && label_of(found) == label_of(object_)) {
    if (is_being_deleted(found)) {
      throw Error(ErrorKind::remote,
                  fmt::format("the job `{}` was created, and is being deleted", name_))
          .hint("submit again when it is gone");
    }
    return found;
  }
  throw refusal(call, response, options_.api->login());
}

json Creation::try_create(std::vector<std::string>& causes, std::optional<milliseconds>& wait) {
  using Reason = http::TransportError::Reason;
  const ApiCall call{.what = fmt::format("create the {} `{}`", facts_.name, name_),
                     .method = "POST",
                     .path = collection(),
                     .query = "fieldManager=autopack&fieldValidation=Strict",
                     .body = write_json(object_),
                     .only_once = true};
  try {
    const auto response = options_.api->send(call);
    auto answer = response.ok() ? parse_json(response.body) : json{};
    if (response.ok() && answer.is_object() && label_of(answer) == label_of(object_)) {
      return answer;
    }
    if (response.ok()) {
      causes = {"the answer of the API server is not the object"};
      may_exist_ = true;
      return nullptr;
    }
    auto refused = refusal(call, response, options_.api->login());
    causes = refused.causes();
    if (response.status == 409) {
      return of_clash(call, response);
    }
    if (response.status == 429) {
      wait = http::retry_delay(
          {.number = 1, .status = 429, .retry_after = response.header("retry-after").value_or("")},
          0.5, std::time(nullptr));
      if (!wait) {
        throw refused;
      }
      return nullptr;
    }
    if (!is_unclear(response.status)) {
      throw refused;
    }
    may_exist_ = true;
  } catch (const http::TransportError& error) {
    if (error.reason() == Reason::tls) {
      throw;
    }
    causes = {error.message()};
    causes.insert(causes.end(), error.causes().begin(), error.causes().end());
    may_exist_ =
        may_exist_ || (error.reason() != Reason::connect && error.reason() != Reason::resolve);
  }
  return nullptr;
}

Error Creation::unclear(const std::vector<std::string>& causes) const {
  Error error{ErrorKind::remote,
              fmt::format("it is not known whether job `{}` was created", name_)};
  for (const auto& cause : causes) {
    error.cause(cause);
  }
  return error.hint("look before you submit again: autopack jobs describe " +
                    shell_quote(job_name()));
}

json Creation::run(bool was_tried) {
  std::vector<std::string> causes{"an earlier run was interrupted while it created the job"};
  may_exist_ = was_tried;
  for (int tries = 1;; ++tries) {
    if (may_exist_) {
      options_.reporter->detail(
          fmt::format("looking for the {} `{}`: it may exist", facts_.name, name_));
      try {
        if (auto found = look(*options_.api); found.is_object()) {
          if (was_tried && tries == 1) {
            options_.reporter->warn(Problem::warning(
                {.message = fmt::format("an earlier run, which ended before it could report it, "
                                        "had created `{}`: that is the job",
                                        job_name())}));
          }
          return found;
        }
      } catch (const Error& error) {
        throw unclear(causes).cause(error.message());
      }
    }
    std::optional<milliseconds> wait;
    if (auto made = try_create(causes, wait); made.is_object()) {
      return made;
    }
    if (tries == most_creates) {
      break;
    }
    options_.api->options().sleep(wait.value_or(step * tries));
  }
  if (may_exist_) {
    if (auto found = look(*options_.api); found.is_object()) {
      return found;
    }
  }
  Error error{ErrorKind::remote, fmt::format("job `{}` could not be created", name_)};
  for (const auto& cause : causes) {
    error.cause(cause);
  }
  throw error;
}

class KubernetesSubmitter final : public submit::Submitter {
public:
  explicit KubernetesSubmitter(KubernetesOptions options) : options_{std::move(options)} {}

  Problems check(const job::Job& job) const override { return check_job(job, options_.object); }

  void make_ready() override {
    if (options_.api == nullptr) {
      throw Error{*options_.no_cluster};
    }
  }

  Problems ask(const job::Job& job) override {
    make_ready();
    return ask_cluster(*options_.api, job, options_.object);
  }

  submit::PreparedRequest prepare(const job::Job& job) const override;
  submit::SubmittedJob submit(const job::Job& job) override;

private:
  std::string key_of(const job::Job& job) const {
    return sha256(options_.api->login().access().server + "\n" +
                  write_json(make_object(job, options_.object, no_submission)))
        .hex();
  }

  submit::SubmittedJob submitted(ObjectKind kind, json object) const;
  Interrupted interruption(Creation& creation, ObjectKind kind, submit::Submission& record) const;

  KubernetesOptions options_;
};

submit::PreparedRequest KubernetesSubmitter::prepare(const job::Job& job) const {
  auto object = make_object(job, options_.object, submit::new_submission_id());
  const auto& facts = facts_of(kind_of(job, options_.object));
  auto text = job::yaml_of_json(object);
  return {
      .method = "POST",
      .url = (options_.api == nullptr ? std::string{"https://CLUSTER"}
                                      : options_.api->login().access().server) +
             collection_path(facts.version, options_.object.name_space, std::string{facts.plural}),
      .body = std::make_shared<const json>(std::move(object)),
      .text = std::move(text)};
}

submit::SubmittedJob KubernetesSubmitter::submitted(ObjectKind kind, json object) const {
  Observed observed{.kind = kind, .object = std::make_shared<const json>(std::move(object))};
  auto job = job_of(observed, options_.api->login().access().context);
  const auto name = text_at(job, "name");
  return {.name = name, .answer = std::make_shared<const json>(std::move(job))};
}

/// Returns the error for an interruption, which states whether the job exists.
Interrupted KubernetesSubmitter::interruption(Creation& creation,
                                              ObjectKind kind,
                                              submit::Submission& record) const {
  options_.reporter->warn(
      Problem::warning({.message = "interrupted while the job was being created: asking whether "
                                   "it exists (interrupt again to exit at once)"}));
  const auto name = shell_quote(creation.job_name());
  try {
    auto found = creation.look(options_.uninterrupted());
    record.settle();
    if (!found.is_object()) {
      return Interrupted{Error(ErrorKind::interrupted, "interrupted; the job was not created")};
    }
    options_.created(submitted(kind, std::move(found)));
    return Interrupted{
        Error(ErrorKind::interrupted, "interrupted; the job was created and continues")
            .hint("follow it: autopack jobs stream-logs " + name)
            .hint("end it: autopack jobs cancel " + name)};
  } catch (const Error& error) {
    return Interrupted{
        Error(ErrorKind::interrupted, "interrupted; it is not known whether the job was created")
            .cause(error.message())
            .hint("look before you submit again: autopack jobs describe " + name)};
  }
}

submit::SubmittedJob KubernetesSubmitter::submit(const job::Job& job) {
  make_ready();
  submit::Submission record{options_.records, key_of(job), submit::new_submission_id(), ""};
  const auto kind = kind_of(job, options_.object);
  Creation creation{options_, kind, make_object(job, options_.object, record.id())};
  try {
    auto done = submitted(kind, creation.run(record.is_left()));
    options_.created(done);
    record.settle();
    return done;
  } catch (const Interrupted&) {
    throw interruption(creation, kind, record);
  } catch (const http::TransportError&) {
    throw;
  } catch (const Error&) {
    // After an unclear answer the next run looks for the job.
    if (!creation.may_exist()) {
      record.settle();
    }
    throw;
  }
}

}  // namespace

std::unique_ptr<submit::Submitter> make_kubernetes_submitter(KubernetesOptions options) {
  return std::make_unique<KubernetesSubmitter>(std::move(options));
}

}  // namespace autopack::kubernetes
