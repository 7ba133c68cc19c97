#include "slurm/script.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "job/cluster.hpp"
#include "job/machine_size.hpp"
#include "job/replica_environment.hpp"
#include "slurm/script_parts.hpp"
#include "slurm/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

// The script starts each replica as a step of its own, with srun, on its own node. So each one has
// exactly the variables that Vertex AI gives it, without a helper inside of the image, a log file
// and an exit status. Host names and ranks are known only there: what job/replica_environment
// writes has marks in their places, which become variables of the shell.

namespace autopack::slurm {

namespace {

constexpr std::int64_t seconds_in_minute{60};
constexpr std::int64_t seconds_in_hour{3600};
constexpr std::int64_t seconds_in_day{86'400};
constexpr std::size_t longest_name{64};
constexpr std::string_view apptainer_prefix{"APPTAINERENV_"};

/// Placeholders for values that only the job's script knows.
class Marks {
public:
  explicit Marks(const std::string& submission)
      : submission_{submission.empty() ? "none" : submission} {
    constexpr std::int64_t most{8'000'000'000'000'000};
    std::uint64_t digits = 0;
    const auto first = submission_.substr(0, 13);
    std::from_chars(first.data(), first.data() + first.size(), digits, 16);
    index_ =
        static_cast<std::size_t>(1'000'000'000'000'000 + static_cast<std::int64_t>(digits) % most);
  }

  std::string hosts(std::size_t pool) const {
    return fmt::format("autopack-hosts-{}-{}", pool, submission_);
  }

  std::string rank() const { return "autopack-rank-" + submission_; }

  std::string first_host() const { return "autopack-first-" + submission_; }

  std::string job() const { return "autopack-job-" + submission_; }

  std::string directory() const { return "autopack-directory-" + submission_; }

  std::size_t index() const { return index_; }

private:
  std::string submission_;
  std::size_t index_{0};
};

/// A mark, and the variable of the shell that replaces it.
using Replacement = std::pair<std::string, std::string>;

/// Returns `text` as one word of a shell, with the marks replaced.
std::string shell_word(std::string_view text, const std::vector<Replacement>& replacements) {
  std::string word;
  while (!text.empty()) {
    std::size_t first = std::string_view::npos;
    const Replacement* found = nullptr;
    for (const auto& one : replacements) {
      const auto at = text.find(one.first);
      if (at < first) {
        first = at;
        found = &one;
      }
    }
    if (const auto plain = text.substr(0, first); !plain.empty()) {
      word += shell_quote(plain);
    }
    if (found == nullptr) {
      break;
    }
    word += "\"$" + found->second + "\"";
    text.remove_prefix(first + found->first.size());
  }
  return word.empty() ? "''" : word;
}

/// The pools that have replicas, each a component of the job.
struct Component {
  std::size_t pool{0};
  std::size_t count{0};
  std::size_t first_rank{0};
};

std::vector<Component> components_of(const job::Spec& spec) {
  std::vector<Component> all;
  std::size_t rank = 0;
  const auto counts = job::replica_counts(spec);
  for (std::size_t pool = 0; pool < counts.size(); ++pool) {
    if (counts[pool] > 0) {
      all.push_back({.pool = pool, .count = counts[pool], .first_rank = rank});
      rank += counts[pool];
    }
  }
  return all;
}

std::size_t replicas_of(const std::vector<Component>& components) {
  return components.empty() ? 0 : components.back().first_rank + components.back().count;
}

/// Returns the `#SBATCH` lines of a component.
std::string sbatch_lines(const ScriptRequest& request, const Component& component, bool is_first) {
  const auto& job = *request.job;
  const auto& pool = job.spec.pools[component.pool];
  std::string lines;
  const auto add = [&](const std::string& option) { lines += "#SBATCH --" + option + "\n"; };
  const auto add_value = [&](const char* name, const std::optional<std::string>& value) {
    if (value) {
      add(fmt::format("{}={}", name, *value));
    }
  };
  add("job-name=" + job_name(job));
  if (is_first) {
    add(fmt::format("comment={}{}", comment_prefix, request.submission));
  }
  add_value("partition", request.queue.partition);
  add_value("account", request.queue.account);
  add_value("qos", request.queue.qos);
  add(fmt::format("nodes={}", component.count));
  add(fmt::format("ntasks={}", component.count));
  add("ntasks-per-node=1");
  const auto size = pool.machine && pool.machine->type ? job::find_machine_size(*pool.machine->type)
                                                       : std::nullopt;
  if (size) {
    add(fmt::format("cpus-per-task={}", size->cpus));
    add(fmt::format("mem={}M", size->memory));
  }
  if (request.queue.gres) {
    add("gres=" + *request.queue.gres);
  } else if (pool.machine && pool.machine->accelerator) {
    add(fmt::format("gres=gpu:{}",
                    std::max<std::int64_t>(pool.machine->accelerators.value_or(1), 1)));
  }
  const auto& scheduling = job.spec.scheduling;
  const auto timeout =
      scheduling && scheduling->timeout ? seconds_of(*scheduling->timeout) : std::nullopt;
  add_value("time", request.queue.time ? request.queue.time
                    : timeout          ? std::optional{slurm_time(*timeout)}
                                       : std::nullopt);
  add_value("signal", request.queue.signal);
  add(scheduling && scheduling->disable_retries.value_or(false) ? "no-requeue" : "requeue");
  return lines;
}

/// Returns true if the words start torchrun, which then has to find the other nodes.
bool starts_torchrun(const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [](const std::string& word) {
    return word == "torchrun" || word.ends_with("/torchrun") || word == "torch.distributed.run" ||
           word == "torch.distributed.launch";
  });
}

/// Returns the function of the shell that sets the variables of a pool's replicas.
std::string variables_function(const ScriptRequest& request,
                               const std::vector<Component>& components,
                               const Component& component,
                               const Marks& marks) {
  const auto& spec = request.job->spec;
  const auto& pool = spec.pools[component.pool];
  const auto total = replicas_of(components);
  // The variables of one replica serve for all of its pool.
  job::Cluster cluster{.job = "slurm/" + marks.job(), .network = "slurm"};
  for (const auto& one : components) {
    cluster.replicas.push_back({.pool = one.pool,
                                .index = marks.index(),
                                .rank = one.first_rank,
                                .name = fmt::format("workerpool{}", one.pool),
                                .host = marks.hosts(one.pool)});
  }
  const auto own = static_cast<std::size_t>(
      std::ranges::find(components, component.pool, &Component::pool) - components.begin());
  const auto& replica = cluster.replicas[own];
  job::Surrounding surrounding;
  if (spec.output) {
    surrounding.output = spec.output->uri;
  }
  auto known = job::service_variables(pool, cluster, replica, surrounding);
  const auto port = known["MASTER_PORT"];
  known["MASTER_ADDR"] = marks.first_host();
  known["RANK"] = marks.rank();
  known["WORLD_SIZE"] = std::to_string(total);
  known.erase("TF_CONFIG");
  if (total > 1) {
    known["TF_CONFIG"] = job::tf_config(pool, cluster, replica, {});
  }
  known["AUTOPACK_JOB_DIRECTORY"] = marks.directory();
  const auto& program = request.programs[component.pool];
  const auto words = program.words.value_or(pool.container->command);
  if (total > 1 && starts_torchrun(words)) {
    known["PET_NNODES"] = std::to_string(total);
    known["PET_NODE_RANK"] = marks.rank();
    known["PET_MASTER_ADDR"] = marks.first_host();
    known["PET_MASTER_PORT"] = port;
  }
  known = job::with_own(std::move(known), pool.container->env);
  const bool is_apptainer = request.container == ContainerKind::apptainer;
  if (is_apptainer) {
    for (const auto& variable : program.environment) {
      const auto mark = variable.find('=');
      if (const auto name = variable.substr(0, mark);
          mark != std::string::npos && is_variable_name(name) && !is_reserved(name)) {
        known.try_emplace(name, variable.substr(mark + 1));
      }
    }
  }
  std::vector<Replacement> replacements{{marks.rank(), "autopack_rank"},
                                        {marks.first_host(), "autopack_first_host"},
                                        {marks.job(), "autopack_job"},
                                        {marks.directory(), "autopack_directory"},
                                        {std::to_string(marks.index()), "autopack_index"}};
  for (const auto& one : components) {
    replacements.emplace_back(fmt::format("{}:{}", marks.hosts(one.pool), port),
                              fmt::format("autopack_hosts_{}", one.pool));
  }
  std::string text = fmt::format("variables_{}() {{\n", component.pool);
  std::vector<std::string> names;
  for (const auto& [name, value] : known) {
    names.push_back((is_apptainer ? std::string{apptainer_prefix} : "") + name);
    text += fmt::format("  export {}={}\n", names.back(), shell_word(value, replacements));
  }
  text += fmt::format("  autopack_names={}\n}}\n", join(names, ","));
  // The hosts are a JSON list, each with its port.
  text += fmt::format("hosts_{}() {{\n  joined_hosts ':{}\",\"'\n}}\n", component.pool, port);
  return text;
}

std::string quoted_words(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    text += " " + shell_quote(word);
  }
  return text;
}

/// Returns the function of the shell that runs a replica of the pool.
std::string program_function(const ScriptRequest& request,
                             const Component& component,
                             std::optional<std::size_t> group) {
  const auto& program = request.programs[component.pool];
  const auto& container = *request.job->spec.pools[component.pool].container;
  std::string words;
  if (program.words) {
    words = quoted_words(*program.words);
  } else if (!container.command.empty()) {
    words = quoted_words(container.command) + quoted_words(container.args);
  } else {
    words = " ENTRYPOINT_OF_THE_IMAGE" + quoted_words(container.args);
  }
  const auto starter =
      container_starter(request.container, program.bundle, program.directory, request.mounts);
  return fmt::format(
      "program_{}() {{\n"
      "  \"$autopack_srun\" {}--nodes=1 --ntasks=1 --nodelist=\"$autopack_host\" \\\n"
      "    --export=\"$autopack_names\" --unbuffered --input=none \\\n"
      "    {} {}{}\n}}\n",
      component.pool, group ? fmt::format("--het-group={} ", *group) : "",
      container_options(request.container, program.image, program.bundle, program.directory,
                        request.mounts, "\"$autopack_names\""),
      starter.empty() ? "" : starter + " ", "\\\n   " + words);
}

/// Returns the trap for a signal that Slurm sends to the script alone: the programs get it, too.
std::string signal_trap(const QueueOptions& queue) {
  if (!queue.signal) {
    return {};
  }
  const auto colon = queue.signal->find(':');
  if (colon == std::string::npos || queue.signal->substr(0, colon).find('B') == std::string::npos) {
    return {};
  }
  auto name = queue.signal->substr(colon + 1);
  name = name.substr(0, name.find('@'));
  if (name.starts_with("SIG")) {
    name.erase(0, 3);
  }
  return name == "TERM" || name == "15"
             ? fmt::format(
                   "trap 'scancel --signal={0} \"$autopack_job\"; trap ended_by_slurm TERM' {0}\n",
                   name)
             : fmt::format("trap 'scancel --signal={0} \"$autopack_job\"' {0}\n", name);
}

}  // namespace

std::string slurm_time(std::int64_t seconds) {
  const auto days = seconds / seconds_in_day;
  const auto rest = seconds % seconds_in_day;
  const auto clock =
      fmt::format("{:02}:{:02}:{:02}", rest / seconds_in_hour,
                  rest % seconds_in_hour / seconds_in_minute, rest % seconds_in_minute);
  return days > 0 ? fmt::format("{}-{}", days, clock) : clock;
}

std::string job_name(const job::Job& job) {
  std::string name;
  for (const char c : job.display_name.value_or("").substr(0, longest_name)) {
    name += is_alphanumeric({&c, 1}, "._-") ? c : '-';
  }
  const auto begin = name.find_first_not_of('-');
  return begin == std::string::npos ? "autopack" : name.substr(begin);
}

Script write_script(const ScriptRequest& request) {
  const auto components = components_of(request.job->spec);
  const Marks marks{request.submission};
  const bool is_heterogeneous = components.size() > 1;
  Script script{.batch = "#!/bin/sh\n", .environment = {}};
  for (std::size_t i = 0; i < components.size(); ++i) {
    script.batch +=
        (i > 0 ? "#SBATCH hetjob\n" : "") + sbatch_lines(request, components[i], i == 0);
    script.environment += variables_function(request, components, components[i], marks);
  }
  script.batch += script_begin + signal_trap(request.queue) + "\n";
  std::string hosts;
  std::string starts;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const auto pool = components[i].pool;
    const auto list = is_heterogeneous ? fmt::format("SLURM_JOB_NODELIST_HET_GROUP_{}", i)
                                       : std::string{"SLURM_JOB_NODELIST"};
    script.batch += program_function(request, components[i],
                                     is_heterogeneous ? std::optional{i} : std::nullopt) +
                    "\n";
    hosts += fmt::format(
        "autopack_nodes_{0}=$(scontrol show hostnames \"${1}\")\n"
        "autopack_hosts_{0}=$(printf '%s\\n' \"$autopack_nodes_{0}\" | hosts_{0})\n",
        pool, list);
    starts +=
        fmt::format("start_pool {0} \"$autopack_nodes_{0}\" {1}\n", pool, components[i].first_rank);
  }
  script.batch += hosts;
  if (!components.empty()) {
    script.batch += fmt::format(
        "autopack_first_host=$(printf '%s\\n' \"$autopack_nodes_{0}\" | head -n 1)\n"
        "autopack_primary=workerpool{0}-0\n",
        components.front().pool);
  }
  script.batch += script_start + starts + script_end;
  return script;
}

}  // namespace autopack::slurm
