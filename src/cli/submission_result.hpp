#pragma once

#include "cli/command.hpp"
#include "submit/submitter.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>
#include <string>

namespace autopack::cli {

/// Prints the result of a command that creates a job on standard output: the job's name as soon as
/// the job exists, or with `--format=json` one object at the end, whatever happens in between.
class SubmissionResult {
public:
  /// `followed`: the command itself follows the job.
  SubmissionResult(Session& session, bool followed) : session_{session}, followed_{followed} {}

  /// Reports a new job: its name with `verb` (`Submitted`), its console page and the command that
  /// follows it.
  void created(const char* verb, const submit::SubmittedJob& job);
  /// Sets the image in the JSON object; `uri` is the result if there is no job.
  void image(std::shared_ptr<const nlohmann::json> image, std::string uri);

  /// Sets the current job.
  void job(std::shared_ptr<const nlohmann::json> answer) { job_ = std::move(answer); }

  const std::shared_ptr<const nlohmann::json>& job() const { return job_; }

  /// Sets the list of attempts in the JSON object.
  void attempts(nlohmann::json list);

  bool has_job() const { return !name_.empty(); }

  /// Prints the rest.
  void print() const;
  /// Runs `work` and returns 0. Reports an error or interruption after a job was created with the
  /// result, and returns the exit status; rethrows an earlier one.
  int run(const std::function<void()>& work);

private:
  int fail(const Error& error) const;
  int fail(const Interrupted& end) const;
  nlohmann::json object() const;
  void print_failed(const Error& error) const;

  Session& session_;
  bool followed_;
  std::string name_{};
  std::string image_uri_{};
  std::shared_ptr<const nlohmann::json> job_{};
  std::shared_ptr<const nlohmann::json> image_{};
  std::shared_ptr<const nlohmann::json> attempts_{};
};

}  // namespace autopack::cli
