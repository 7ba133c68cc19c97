#include "cli/submission_result.hpp"

#include "base/json.hpp"
#include "cli/error_text.hpp"
#include "cli/signals.hpp"
#include "google/job_name.hpp"

namespace autopack::cli {

using nlohmann::json;

void SubmissionResult::created(const char* verb, const submit::SubmittedJob& job) {
  name_ = job.name.value_or("");
  job_ = job.answer ? job.answer : std::make_shared<const json>(json{{"name", name_}});
  session_.console.done(verb, name_);
  if (const auto name = google::JobName::parse(name_)) {
    session_.console.done("Console", name->console_address());
  }
  if (!followed_) {
    session_.console.done("Follow", "autopack jobs logs -f " + name_);
  }
  if (session_.format.kind != OutputFormat::Kind::json) {
    session_.console.result(render(session_, object(), name_));
  }
}

void SubmissionResult::image(std::shared_ptr<const json> image, std::string uri) {
  image_ = std::move(image);
  image_uri_ = std::move(uri);
}

void SubmissionResult::attempts(json list) {
  attempts_ = std::make_shared<const json>(std::move(list));
}

json SubmissionResult::object() const {
  json whole{{"image", image_ ? *image_ : json{}}, {"job", job_ ? *job_ : json{}}};
  if (attempts_) {
    whole["attempts"] = *attempts_;
  }
  return whole;
}

void SubmissionResult::print() const {
  if (!has_job() || session_.format.kind == OutputFormat::Kind::json) {
    session_.console.result(render(session_, object(), image_uri_));
  }
}

int SubmissionResult::run(const std::function<void()>& work) {
  try {
    work();
    return 0;
  } catch (const Interrupted& end) {
    if (!has_job()) {
      throw;
    }
    return fail(end);
  } catch (const Error& error) {
    if (!has_job()) {
      throw;
    }
    return fail(error);
  }
}

int SubmissionResult::fail(const Interrupted& end) const {
  session_.console.error(end);
  print_failed(end.report());
  return interruption_status();
}

int SubmissionResult::fail(const Error& error) const {
  session_.console.error(error);
  print_failed(error);
  return exit_status(error.kind());
}

void SubmissionResult::print_failed(const Error& error) const {
  if (session_.format.kind == OutputFormat::Kind::json) {
    auto whole = object();
    whole["error"] = error_object(error);
    session_.console.result(print_json(whole, 2) + "\n");
  }
}

}  // namespace autopack::cli
