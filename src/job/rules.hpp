#pragma once

#include "job/flags.hpp"
#include "job/job.hpp"
#include "job/make_job.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The rules of the API and of gcloud for a job; each adds all it finds.
namespace autopack::job {

/// What each `--worker-pool-spec` says in itself: keys that need or exclude each other.
void check_pool_flags(const JobFlags& flags, Problems& problems);

/// The merged job as the service would see it.
void check_job(const Job& job,
               const Location& location,
               const CheckOptions& options,
               Problems& problems);

/// Collects the findings about one job; each gets the origin of the value at its path.
class Review {
public:
  Review(const Job& job, const CheckOptions& options, Problems& problems)
      : job_{job}, options_{options}, problems_{problems} {}

  void error(const std::string& path, std::string message, std::vector<std::string> hints = {});
  void warning(const std::string& path, std::string message);

  const CheckOptions& options() const { return options_; }

  /// True when file or flags give a value at `path`, even one that could not be read.
  bool was_given(const std::string& path) const;

  /// What the user wrote for the value at `path`: `key` of `--worker-pool-spec`, the flag `--key`,
  /// or the path in the file; in backticks.
  std::string name(const std::string& path, std::string_view key) const;

  /// True when flags of its own say what the pool at `path` is, or nothing does.
  bool has_own_flags(const std::string& path) const;

private:
  const Origin* origin(std::string path) const;
  std::optional<std::string> origin_text(const std::string& path) const;

  const Job& job_;
  const CheckOptions& options_;
  Problems& problems_;
};

/// Required fields, and fields that exclude each other, in all that the schema knows.
void check_shape(const Job& job, Review& review);
/// Names, labels, places and scheduling.
void check_job_fields(const Job& job, const Location& location, Review& review);
/// Number, roles, images and contents of the pools.
void check_pools(const Spec& spec, Review& review);
/// Machine types, accelerators, TPUs and disks of one pool.
void check_machine(const Pool& pool, const std::string& path, Review& review);
/// What SPOT and FLEX_START ask of the pools.
void check_strategy(const Spec& spec, Review& review);
/// Metrics, parameters and counts of a study.
void check_study(const Job& job, Review& review);
/// One parameter of a study and those under its conditions. Returns the ids of the DOUBLE ones,
/// which a grid cannot search.
std::vector<std::string> check_parameter(const Parameter& parameter,
                                         const std::string& path,
                                         Review& review);
/// The id of a `what`, a metric or a parameter.
void check_identifier(const Text& id,
                      const std::string& path,
                      std::string_view what,
                      Review& review);
/// Model and dataset of a training pipeline.
void check_pipeline(const Job& job, const Location& location, Review& review);
/// Prebuilt images that do not exist, or whose time is over.
void check_prebuilt_image(const std::string& image, const std::string& path, Review& review);

/// `path` as people write it, in backticks: without the leading `jobSpec.`.
std::string shown_path(std::string_view path);

/// In UTF-8.
std::size_t characters(std::string_view text);

}  // namespace autopack::job
