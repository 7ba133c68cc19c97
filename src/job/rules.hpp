#pragma once

#include "job/flags.hpp"
#include "job/job.hpp"
#include "job/make_job.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The rules of the API and of gcloud for a job; each function adds all its findings.
namespace autopack::job {

/// Checks each `--worker-pool-spec` alone: keys that need or exclude each other.
void check_pool_flags(const JobFlags& flags, Problems& problems);

/// Checks the merged job as the service would receive it.
void check_job(const Job& job,
               const Location& location,
               const CheckOptions& options,
               Problems& problems);

/// Collects the findings about one job, and adds the origin of the value at each path.
class Review {
public:
  Review(const Job& job, const CheckOptions& options, Problems& problems)
      : job_{job}, options_{options}, problems_{problems} {}

  void error(const std::string& path, std::string message, std::vector<std::string> hints = {});
  void warning(const std::string& path, std::string message);

  const CheckOptions& options() const { return options_; }

  /// Returns true if file or flags give a value at `path`, even an invalid one.
  bool was_given(const std::string& path) const;

  /// Returns the user's spelling of the value at `path`, in backticks: `key` of
  /// `--worker-pool-spec`, the flag `--key`, or the path in the file.
  std::string name(const std::string& path, std::string_view key) const;

  /// Returns true if its own flags describe the pool at `path`, or if nothing does.
  bool has_own_flags(const std::string& path) const;

private:
  const Origin* origin(std::string path) const;
  std::optional<std::string> origin_text(const std::string& path) const;

  const Job& job_;
  const CheckOptions& options_;
  Problems& problems_;
};

/// Checks required fields, and fields that exclude each other, in everything that the schema knows.
void check_shape(const Job& job, Review& review);
/// Checks names, labels, location and scheduling.
void check_job_fields(const Job& job, const Location& location, Review& review);
/// Checks number, roles, images and contents of the pools.
void check_pools(const Spec& spec, Review& review);
/// Checks machine types, accelerators, TPUs and disks of one pool.
void check_machine(const Pool& pool, const std::string& path, Review& review);
/// Checks the requirements of SPOT and FLEX_START on the pools.
void check_strategy(const Spec& spec, Review& review);
/// Checks metrics, parameters and counts of a study.
void check_study(const Job& job, Review& review);
/// Checks one parameter of a study and its conditional parameters. Returns the ids of the DOUBLE
/// ones, which a grid cannot search.
std::vector<std::string> check_parameter(const Parameter& parameter,
                                         const std::string& path,
                                         Review& review);
/// Checks the id of a metric or a parameter; `what` is that word.
void check_identifier(const Text& id,
                      const std::string& path,
                      std::string_view what,
                      Review& review);
/// Checks model and dataset of a training pipeline.
void check_pipeline(const Job& job, const Location& location, Review& review);
/// Checks for prebuilt images that do not exist or are no longer supported.
void check_prebuilt_image(const std::string& image, const std::string& path, Review& review);

/// Returns `path` as people write it, in backticks: without the leading `jobSpec.`.
std::string shown_path(std::string_view path);

/// Counts characters of UTF-8.
std::size_t characters(std::string_view text);

}  // namespace autopack::job
