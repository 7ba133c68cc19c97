#include "base/error.hpp"
#include "cli/cluster_options.hpp"

namespace autopack::cli {

namespace {

class KubernetesOptions : public ClusterOptions {
public:
  std::string_view submitter() const override { return "kubernetes"; }

  std::vector<std::string_view> own_flags() const override { return {}; }

  void add_submit_flags(FlagSet& /*flags*/) override {}

  void add_jobs_flags(FlagSet& /*flags*/) override {}

  std::unique_ptr<submit::Submitter> make_submitter(Session& /*session*/,
                                                    ClusterSubmission /*submission*/) override {
    throw Error(ErrorKind::usage, "`--submitter=kubernetes` is not available yet");
  }

  std::unique_ptr<submit::ClusterJobs> make_jobs(
      Session& /*session*/, const std::optional<std::string>& /*job*/) override {
    throw Error(ErrorKind::usage, "`--submitter=kubernetes` is not available yet");
  }
};

}  // namespace

std::unique_ptr<ClusterOptions> make_kubernetes_options() {
  return std::make_unique<KubernetesOptions>();
}

}  // namespace autopack::cli
