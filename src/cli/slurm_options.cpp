#include "base/error.hpp"
#include "cli/cluster_options.hpp"

namespace autopack::cli {

namespace {

class SlurmOptions : public ClusterOptions {
public:
  std::string_view submitter() const override { return "slurm"; }

  std::vector<std::string_view> own_flags() const override { return {}; }

  void add_submit_flags(FlagSet& /*flags*/) override {}

  void add_jobs_flags(FlagSet& /*flags*/) override {}

  std::unique_ptr<submit::Submitter> make_submitter(Session& /*session*/,
                                                    ClusterSubmission /*submission*/) override {
    throw Error(ErrorKind::usage, "`--submitter=slurm` is not available yet");
  }

  std::unique_ptr<submit::ClusterJobs> make_jobs(
      Session& /*session*/, const std::optional<std::string>& /*job*/) override {
    throw Error(ErrorKind::usage, "`--submitter=slurm` is not available yet");
  }
};

}  // namespace

std::unique_ptr<ClusterOptions> make_slurm_options() {
  return std::make_unique<SlurmOptions>();
}

}  // namespace autopack::cli
