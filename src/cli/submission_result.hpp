#pragma once

#include "cli/command.hpp"
#include "submit/submitter.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>

namespace autopack::cli {

/// What a command that creates a job puts on standard output: the job's name as soon as there is a
/// job, or with `--format=json` one object at the end, whatever happens in between.
class SubmissionResult {
public:
  /// With `followed` the command itself follows the job.
  SubmissionResult(Session& session, bool followed) : session_{session}, followed_{followed} {}

  /// There is a job: tells its name with `verb` (`Submitted`), where the console shows it and what
  /// follows it.
  void created(const char* verb, const submit::SubmittedJob& job);
  /// What the JSON object says of the image; `uri` stands for the result when there is no job.
  void image(std::shared_ptr<const nlohmann::json> image, std::string uri);

  /// The job as it is now.
  void job(std::shared_ptr<const nlohmann::json> answer) { job_ = std::move(answer); }

  const std::shared_ptr<const nlohmann::json>& job() const { return job_; }

  bool has_job() const { return !name_.empty(); }

  /// Prints what is not printed yet.
  void print() const;
  /// Tells an error that came after the job was created. The exit status.
  int fail(const Error& error) const;
  int fail(const Interrupted& end) const;

private:
  nlohmann::json object() const;
  void print_failed(const Error& error) const;

  Session& session_;
  bool followed_;
  std::string name_{};
  std::string image_uri_{};
  std::shared_ptr<const nlohmann::json> job_{};
  std::shared_ptr<const nlohmann::json> image_{};
};

}  // namespace autopack::cli
