#include "cli/local_options.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/container_options.hpp"
#include "cli/flag_words.hpp"
#include "cli/packaging_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

namespace autopack::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::array local_flags{"--max-replicas", "--replica-memory", "--replica-cpus",
                                 "--gcs",          "--volume",         "--fail",
                                 "--detach",       "--resume"};

/// Parses `BUCKET=DIRECTORY`.
void read_bucket(const std::string& text,
                 const Environment& environment,
                 local::HostResources& host,
                 Problems& problems) {
  constexpr auto* hint = "`--gcs=my-bucket=./data` shows the job a directory at /gcs/my-bucket";
  const auto mark = text.find('=');
  const auto bucket = text.substr(0, mark);
  if (mark == std::string::npos || bucket.empty() || !is_alphanumeric(bucket, "-_.")) {
    problems.push_back(value_problem("--gcs", text, "is not `BUCKET=DIRECTORY`", hint));
    return;
  }
  std::error_code failure;
  const auto directory = fs::canonical(expand_home(text.substr(mark + 1), environment), failure);
  if (failure || !fs::is_directory(directory, failure)) {
    problems.push_back(value_problem("--gcs", text, "is not a directory of this machine", hint));
    return;
  }
  host.buckets[bucket] = directory.string();
}

void read_limits(const LocalFlags& flags, local::LocalOptions& options, Problems& problems) {
  if (flags.most_replicas && *flags.most_replicas < 1) {
    problems.push_back(value_problem("--max-replicas", std::to_string(*flags.most_replicas),
                                     "is not a number of replicas", "`--max-replicas=4`"));
  }
  options.most_replicas =
      static_cast<std::size_t>(std::max<std::int64_t>(flags.most_replicas.value_or(0), 0));
  if (flags.memory) {
    const auto size = local::read_size(*flags.memory);
    if (!size) {
      problems.push_back(
          value_problem("--replica-memory", *flags.memory, "is not a size", "`512m`, `2g`"));
    }
    options.host.memory = size.value_or(0);
  }
  if (flags.processors) {
    constexpr double most = 4096;
    const auto& text = *flags.processors;
    double& number = options.host.processors;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc{} || end != text.data() + text.size() || !(number > 0) ||
        number > most) {
      problems.push_back(value_problem("--replica-cpus", text, "is not a number of processors",
                                       "`--replica-cpus=0.5`"));
    }
  }
}

/// Returns half of the memory, as on a machine of the service.
std::uint64_t shared_memory(const local::HostResources& host) {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto size = ::sysconf(_SC_PAGESIZE);
  const auto whole = pages > 0 && size > 0
                         ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size)
                         : 0;
  return (host.memory > 0 ? host.memory : whole) / 2;
}

}  // namespace

void add_local_flags(FlagSet& flags, LocalFlags& into, bool tunes) {
  flags.section("Local", false);
  flags.number("--max-replicas", "NUMBER", into.most_replicas,
               "run at most this many replicas; TF_CONFIG has the same number");
  flags.text("--replica-memory", "SIZE", into.memory, "of each replica at most: 512m, 2g");
  flags.text("--replica-cpus", "NUMBER", into.processors, "processors of each replica: 0.5");
  flags.list("--gcs", "BUCKET=DIRECTORY", into.buckets,
             "a directory that replaces a bucket, at /gcs/BUCKET");
  flags.list("--volume", "HOST:DIR[:ro]", into.volumes,
             "a directory or file that every replica sees");
  flags.list("--fail", "REPLICA@TIME", into.faults,
             "kill a replica: workerpool1-0@5s; network:workerpool1-0@5s cuts it off");
  flags.toggle("--detach", into.detach, "leave the job running; `autopack jobs` finds it");
  if (tunes) {
    flags.text("--resume", "local/ID", into.resumed,
               "continue an interrupted study of this machine");
  }
}

void refuse_local_flags(const FlagSet& typed) {
  for (const auto* name : local_flags) {
    if (typed.is_typed(name)) {
      throw Error(ErrorKind::usage, fmt::format("`{}` is for `--submitter=local`", name));
    }
  }
}

local::LocalOptions local_options(const LocalFlags& flags, const Environment& environment) {
  local::LocalOptions options{.records = environment.cache_directory() / "jobs"};
  Problems problems;
  read_limits(flags, options, problems);
  for (const auto& bucket : flags.buckets) {
    read_bucket(bucket, environment, options.host, problems);
  }
  options.host.mounts = read_volumes(flags.volumes, environment, problems);
  for (const auto& text : flags.faults) {
    const auto one = local::read_fault(text);
    if (one) {
      options.faults.push_back(*one);
    } else {
      problems.push_back(
          value_problem("--fail", text, "is not `REPLICA@TIME`", "`workerpool1-0@5s`"));
    }
  }
  throw_if_errors(problems, ErrorKind::usage);
  options.host.shared_memory = shared_memory(options.host);
  options.host.gpus = find_gpus();
  options.host.credentials = own_credentials(environment);
  return options;
}

}  // namespace autopack::cli
