#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/cluster_options.hpp"
#include "cli/flag_words.hpp"
#include "services/registry_image.hpp"
#include "slurm/commands.hpp"
#include "slurm/jobs.hpp"
#include "slurm/submitter.hpp"

#include <fmt/format.h>

#include <utility>

namespace autopack::cli {

namespace {

constexpr auto* platform = "linux/amd64";

class SlurmFlags : public ClusterOptions {
public:
  std::string_view submitter() const override { return "slurm"; }

  std::vector<std::string_view> own_flags() const override {
    return {
        "--login",  "--partition",        "--slurm-account",    "--qos",       "--gres", "--time",
        "--signal", "--shared-directory", "--container-mounts", "--containers"};
  }

  void add_submit_flags(FlagSet& flags) override {
    flags.section("Slurm", false);
    add_place(flags);
    flags.text("--partition", "NAME", queue_.partition, "of the nodes");
    flags.text("--slurm-account", "NAME", queue_.account, "pays for the job");
    flags.text("--qos", "NAME", queue_.qos, "quality of service");
    flags.text("--gres", "NAME[:TYPE]:N", queue_.gres, "of each node: gpu:a100:8");
    flags.text("--time", "TIME", queue_.time, "limit, in Slurm's form: 30, 2:00:00, 1-12:00:00");
    flags.text("--signal", "[B:]SIGNAL@S", queue_.signal, "to the programs S seconds before it");
    flags.list("--container-mounts", "DIR[:DIR[:ro]]", mounts_,
               "a directory of the nodes that the programs see");
    flags.text("--containers", "auto|pyxis|oci|apptainer", containers_,
               "what starts them; default: what the cluster has");
  }

  void add_jobs_flags(FlagSet& flags) override {
    flags.section("Slurm", false);
    add_place(flags);
  }

  std::unique_ptr<submit::Submitter> make_submitter(Session& session,
                                                    ClusterSubmission submission) override {
    slurm::SlurmOptions options{
        .connection = connect(session, login_),
        .queue = queue_,
        .shared_directory = slurm::read_shared_directory(directory_),
        .container = slurm::read_container_kind(containers_),
        .records = session.services.environment.cache_directory() / "submissions",
        .reporter = session.services.reporter,
        .cancellation = session.services.cancellation,
        .created = std::move(submission.created)};
    for (const auto& text : session.flags.listed("--container-mounts")) {
      options.mounts.push_back(slurm::read_mount(text));
    }
    options.open = [&services = session.services](const std::string& name) {
      return named_image(services, image::Reference::parse(name), platform);
    };
    return slurm::make_slurm_submitter(std::move(options));
  }

  std::unique_ptr<submit::ClusterJobs> make_jobs(Session& session,
                                                 const std::optional<std::string>& job) override {
    auto login = login_;
    if (const auto name = job ? slurm::parse_slurm_name(*job) : std::nullopt) {
      if (login && session.flags.is_typed("--login") && *login != name->login) {
        throw Error(ErrorKind::usage,
                    fmt::format("`--login={}` differs from `{}` in the job's name",
                                printable(*login), printable(name->login)));
      }
      login = name->login == "-" ? std::nullopt : std::optional{name->login};
    } else if (job && job->starts_with("slurm/")) {
      throw Error(ErrorKind::usage, fmt::format("`{}` is not the name of a job", printable(*job)))
          .hint("a name is slurm/LOGIN/ID, with `-` as the login for this machine");
    }
    return slurm::make_slurm_jobs({.connection = connect(session, login),
                                   .shared_directory = slurm::read_shared_directory(directory_),
                                   .reporter = session.services.reporter,
                                   .cancellation = session.services.cancellation});
  }

private:
  void add_place(FlagSet& flags) {
    flags.text("--login", "[USER@]HOST[:PORT]", login_,
               "by ssh, where Slurm's commands are; default: here");
    flags.text("--shared-directory", "DIR", directory_,
               "of the cluster, for images and jobs; default: ~/.autopack");
  }

  static std::shared_ptr<slurm::Connection> connect(const Session& session,
                                                    const std::optional<std::string>& login) {
    return std::make_shared<slurm::Connection>(
        login ? std::optional{slurm::read_login(*login)} : std::nullopt,
        session.services.cancellation);
  }

  std::optional<std::string> login_{};
  std::string directory_{slurm::default_shared_directory};
  slurm::QueueOptions queue_{};
  std::vector<std::string> mounts_{};
  std::string containers_{"auto"};
};

}  // namespace

std::unique_ptr<ClusterOptions> make_slurm_options() {
  return std::make_unique<SlurmFlags>();
}

}  // namespace autopack::cli
