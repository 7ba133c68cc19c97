#include "slurm/commands.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace autopack::slurm {

namespace {

constexpr std::size_t most_listed{1000};
constexpr std::size_t most_partitions{1000};
constexpr std::size_t most_log_bytes{std::size_t{1} << 18U};
constexpr std::size_t longest_answer{400};

/// Returns the directory as a word of a shell.
std::string directory_word(const std::string& directory) {
  return directory.starts_with("~/") ? "\"$HOME\"" + shell_quote(directory.substr(1))
                                     : shell_quote(directory);
}

/// Returns the text after `key` and a space; nothing if the line has another key.
std::optional<std::string> value_of(const std::string& line, std::string_view key) {
  if (line.size() <= key.size() || !line.starts_with(key) || line[key.size()] != ' ') {
    return std::nullopt;
  }
  return line.substr(key.size() + 1);
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && !text.empty() && end == text.data() + text.size()
             ? std::optional{value}
             : std::nullopt;
}

/// Returns `text` as a file with the name `name`, which appears as a whole.
std::string written(const std::string& name, const std::string& text) {
  return fmt::format("printf %s {} > {}.new && mv -f {}.new {} || exit 3\n", shell_quote(text),
                     name, name, name);
}

Problem unknown_partition(const std::string& wanted, const std::vector<Partition>& partitions) {
  std::vector<std::string> names;
  for (const auto& one : partitions) {
    names.push_back(one.name);
  }
  Problem problem{.message = fmt::format("the cluster has no partition `{}`", printable(wanted)),
                  .origin = "`--partition`"};
  if (const auto near = nearest(wanted, names)) {
    problem.hints.push_back(fmt::format("did you mean `{}`?", printable(*near)));
  } else {
    problem.hints.push_back("it has " + printable(join(names, ", ")));
  }
  return problem;
}

/// Returns the first line that is not empty, without the command's name.
std::string first_error(const std::string& said) {
  for (const auto& line : split(said, '\n')) {
    auto text = std::string{trim(line)};
    for (const std::string_view prefix :
         {"sbatch: error: ", "sbatch: ", "allocation failure: ", "Batch job submission failed: "}) {
      if (text.starts_with(prefix)) {
        text.erase(0, prefix.size());
      }
    }
    if (!text.empty()) {
      return printable(text.substr(0, longest_answer));
    }
  }
  return "Slurm gave no reason";
}

std::vector<std::string> lines_of(std::string_view text) {
  return split(text, '\n');
}

void take_job_line(std::map<std::string, KnownJob>& jobs, const std::string& line) {
  constexpr std::size_t begin{2};
  const auto space = line.find(' ', begin);
  if (line.size() < begin + 1 || line[1] != ' ' || space == std::string::npos) {
    return;
  }
  const auto submission = line.substr(begin, space - begin);
  const auto value = line.substr(space + 1);
  if (!is_submission_id(submission)) {
    return;
  }
  auto& job = jobs[submission];
  job.submission = submission;
  switch (line[0]) {
    case 'D': job.directory = value; break;
    case 'I': job.id = is_job_id(value) ? value : ""; break;
    case 'J': job.record = value; break;
    case 'C': job.created = whole_number<std::int64_t>(value); break;
    case 'S': job.started = whole_number<std::int64_t>(value); break;
    case 'E': job.ending = read_ending(value); break;
    default: break;
  }
}

/// Adds the state in the queue or the accounting. A job that is in the queue and has no files of
/// its own (they were removed) is known by its comment.
void take_queued(std::map<std::string, KnownJob>& jobs,
                 const std::vector<QueuedJob>& queued,
                 std::optional<QueuedJob> KnownJob::*member) {
  for (const auto& one : queued) {
    const auto submission = submission_of(one.comment);
    for (auto& [id, job] : jobs) {
      // A number may be used again after years, so the comment counts where it is known.
      if (job.id == one.id && (!submission || *submission == id)) {
        job.*member = one;
      }
    }
    if (submission && !jobs.contains(*submission)) {
      auto& job = jobs[*submission];
      job.submission = *submission;
      job.id = one.id;
      job.*member = one;
    }
  }
}

}  // namespace

std::string read_shared_directory(const std::string& text) {
  const bool is_below_home = text.starts_with("~/") && text.size() > 2;
  if ((!is_below_home && (!text.starts_with('/') || text.size() < 2)) ||
      !is_alphanumeric(text.substr(is_below_home ? 1 : 0), "/._-+@=")) {
    throw Error(ErrorKind::usage, fmt::format("`--shared-directory={}` is not a path on the "
                                              "cluster",
                                              printable(text)))
        .hint(
            "it is absolute or begins with `~/`, all nodes see it, and it has no spaces: "
            "`--shared-directory=/scratch/me/autopack`");
  }
  auto directory = text;
  while (directory.size() > 2 && directory.ends_with('/')) {
    directory.pop_back();
  }
  return directory;
}

std::string facts_script(const std::string& shared_directory) {
  return "directory=" + directory_word(shared_directory) + R"sh(
printf 'user %s\ngroup %s\ndirectory %s\n' "$(id -u)" "$(id -g)" "$directory"
for command in sbatch squeue scontrol scancel srun sinfo tar; do
  command -v "$command" >/dev/null 2>&1 || printf 'missing %s\n' "$command"
done
printf 'version %s\n' "$(sbatch --version 2>/dev/null)"
options=$(srun --help 2>/dev/null)
case $options in *--container-image*) printf 'container pyxis\n' ;; esac
settings=$(scontrol show config 2>/dev/null | sed -n 's/^SLURM_CONF  *= *//p')
case $options in
  *--container*) [ -r "${settings%/*}/oci.conf" ] && printf 'container oci\n' ;;
esac
if command -v apptainer >/dev/null 2>&1 || command -v singularity >/dev/null 2>&1; then
  printf 'container apptainer\n'
fi
printf 'end\n'
)sh";
}

std::optional<ClusterFacts> read_facts(std::string_view text) {
  ClusterFacts facts;
  bool is_whole = false;
  std::optional<unsigned> user;
  std::optional<unsigned> group;
  for (const auto& line : lines_of(text)) {
    if (const auto value = value_of(line, "user")) {
      user = whole_number<unsigned>(*value);
    } else if (const auto number = value_of(line, "group")) {
      group = whole_number<unsigned>(*number);
    } else if (const auto directory = value_of(line, "directory")) {
      facts.directory = *directory;
    } else if (const auto command = value_of(line, "missing")) {
      facts.missing.push_back(*command);
    } else if (const auto version = value_of(line, "version")) {
      facts.version = *version;
    } else if (const auto word = value_of(line, "container")) {
      if (const auto kind = read_container_kind(*word)) {
        facts.containers.push_back(*kind);
      }
    }
    is_whole = is_whole || line == "end";
  }
  if (!is_whole || !user || !group || !facts.directory.starts_with('/')) {
    return std::nullopt;
  }
  facts.user = {.id = *user, .group = *group};
  return facts;
}

std::string test_script(const std::string& batch) {
  return "sinfo --noheader --format='P %P|%a|%l|%D|%G' 2>&1\nprintf %s " + shell_quote(batch) +
         R"sh( | sbatch --test-only --chdir=/ --output=/dev/null 2>&1
printf 'status %s\n' $?
)sh";
}

TestAnswer read_test(std::string_view text) {
  constexpr std::size_t columns{5};
  TestAnswer answer;
  for (const auto& line : lines_of(text)) {
    const auto partition = value_of(line, "P");
    if (const auto status = value_of(line, "status")) {
      answer.was_accepted = *status == "0";
    } else if (partition && answer.partitions.size() < most_partitions) {
      const auto fields = split(*partition, '|');
      if (fields.size() < columns || fields[0].empty()) {
        continue;
      }
      const bool is_default = fields[0].ends_with('*');
      const auto name = fields[0].substr(0, fields[0].size() - (is_default ? 1 : 0));
      const auto nodes = whole_number<std::size_t>(fields[3]).value_or(0);
      const auto there = std::ranges::find(answer.partitions, name, &Partition::name);
      // sinfo prints a line for each kind of node.
      if (there != answer.partitions.end()) {
        there->nodes += nodes;
        there->gres += "," + fields[4];
        continue;
      }
      answer.partitions.push_back({.name = name,
                                   .is_default = is_default,
                                   .is_up = fields[1] == "up",
                                   .limit = read_slurm_time(fields[2]),
                                   .nodes = nodes,
                                   .gres = fields[4]});
    } else {
      answer.said += line + "\n";
    }
  }
  return answer;
}

std::optional<std::int64_t> read_slurm_time(std::string_view text) {
  constexpr std::int64_t minute{60};
  constexpr std::int64_t hour{60 * minute};
  constexpr std::int64_t day{24 * hour};
  constexpr std::int64_t most{100'000'000};
  const auto dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  std::vector<std::int64_t> numbers;
  for (const auto& part : split(has_days ? text.substr(dash + 1) : text, ':')) {
    const auto number = whole_number<std::int64_t>(part);
    if (!number || *number < 0 || *number > most) {
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  if (has_days) {
    const auto days = whole_number<std::int64_t>(text.substr(0, dash));
    if (!days || *days < 0 || *days > most || numbers.size() > 3) {
      return std::nullopt;
    }
    numbers.resize(3);
    return *days * day + numbers[0] * hour + numbers[1] * minute + numbers[2];
  }
  switch (numbers.size()) {
    case 1: return numbers[0] * minute;
    case 2: return numbers[0] * minute + numbers[1];
    case 3: return numbers[0] * hour + numbers[1] * minute + numbers[2];
    default: return std::nullopt;
  }
}

Problems findings(const TestAnswer& answer,
                  const QueueOptions& queue,
                  const std::optional<std::int64_t>& seconds,
                  std::size_t nodes) {
  Problems problems;
  if (answer.partitions.empty()) {
    problems.push_back({.severity = Problem::Severity::unknown,
                        .message = "the partitions of the cluster could not be read",
                        .reason = first_error(answer.said)});
    return problems;
  }
  const auto chosen = std::ranges::find_if(answer.partitions, [&](const Partition& one) {
    return queue.partition ? one.name == *queue.partition : one.is_default;
  });
  const bool names_one = !queue.partition || queue.partition->find(',') == std::string::npos;
  if (chosen == answer.partitions.end()) {
    if (queue.partition && names_one) {
      problems.push_back(unknown_partition(*queue.partition, answer.partitions));
      return problems;
    }
  } else {
    // Slurm accepts these jobs, which then wait forever.
    if (!chosen->is_up) {
      problems.push_back(Problem::warning(
          {.message = fmt::format("the partition `{}` is not up: the job waits", chosen->name)}));
    }
    if (seconds && chosen->limit && *seconds > *chosen->limit) {
      problems.push_back(
          {.message = fmt::format("the partition `{}` ends jobs after {}, and this one asks for {}",
                                  chosen->name, slurm_time(*chosen->limit), slurm_time(*seconds)),
           .origin = queue.time ? "`--time`" : "`--timeout`"});
    }
    if (nodes > chosen->nodes) {
      problems.push_back({.message = fmt::format("a pool has {} replicas, each on a node of its "
                                                 "own, and the partition `{}` has {} nodes",
                                                 nodes, chosen->name, chosen->nodes),
                          .origin = "`--replica-count`"});
    }
  }
  if (problems.empty() && !answer.was_accepted) {
    problems.push_back({.message = "Slurm refuses the job: " + first_error(answer.said),
                        .origin = "`sbatch --test-only`",
                        .hints = {"list them: sinfo -o '%P %l %D %G'"}});
  }
  return problems;
}

std::string submit_script(const Submission& submission) {
  auto text = fmt::format("umask 077\nshared={}\nid={}\n", shell_quote(submission.directory),
                          shell_quote(submission.id));
  text += R"sh(directory=$shared/jobs/$id
mkdir -p "$directory" && cd "$directory" || exit 3
exec 9>> lock
# An earlier call whose connection was lost may still run.
if command -v flock >/dev/null 2>&1; then flock -w 120 9 || { echo 'another call holds the lock' >&2; exit 5; }; fi
if [ -s id ]; then printf 'id %s\n' "$(cat id)"; exit 0; fi
queue=$(squeue --noheader --states=all --user="$(id -un)" --format='%A|%k' 2>errors) || { cat errors >&2; exit 5; }
found=$(printf '%s\n' "$queue" | sed -n "s/^\([0-9]*\)|autopack-submission=$id\$/\1/p" | head -n 1)
if [ -z "$found" ] && [ -e tried ]; then
  found=$(sacct --noheader --parsable2 --allocations --user="$(id -un)" --starttime=now-1day \
    --format=JobIDRaw,Comment 2>/dev/null | sed -n "s/^\([0-9]*\)|autopack-submission=$id\$/\1/p" | head -n 1)
fi
if [ -z "$found" ]; then
)sh";
  text += written("environment", submission.script.environment);
  text += written("script", submission.script.batch);
  text += written("job.json", submission.record);
  text += R"sh(  date +%s > created
  : > tried
  said=$(sbatch --parsable --chdir="$directory" --output="$directory/batch.log" script 2>errors 9>&-)
  status=$?
  found=${said%%;*}
  if [ "$status" != 0 ] || [ -z "$found" ]; then
    cat errors >&2
    # The controller may have taken the job, and the answer was lost.
    case $(cat errors) in
      *imed\ out* | *ransport\ endpoint* | *ero\ Bytes* | *nable\ to\ contact* | *onnection\ *) exit 5 ;;
    esac
    exit 4
  fi
fi
printf '%s\n' "$found" > id.new && mv -f id.new id || exit 3
home="$HOME"/.autopack
if [ "$shared" != "$home" ]; then
  mkdir -p "$home" && { grep -qxF "$shared" "$home/places" 2>/dev/null || printf '%s\n' "$shared" >> "$home/places"; }
fi
printf 'id %s\n' "$found"
)sh";
  return text;
}

std::optional<std::string> read_submitted(std::string_view text) {
  for (const auto& line : lines_of(text)) {
    if (auto id = value_of(line, "id"); id && is_job_id(*id)) {
      return id;
    }
  }
  return std::nullopt;
}

std::string jobs_script(const std::string& shared_directory, const std::optional<std::string>& id) {
  auto text = fmt::format("shared={}\nwanted={}\n", directory_word(shared_directory),
                          shell_quote(id.value_or("")));
  text += fmt::format("most={}\n", most_listed);
  text += R"sh(TZ=UTC
export TZ
umask 077
printf 'user %s\n' "$(id -un)"
queue=$(squeue --noheader --states=all --user="$(id -un)" --format=')sh";
  text += queue_format;
  text += R"sh(' 2>&1) || { printf '%s\n' "$queue" >&2; exit 6; }
printf '%s\n' "$queue" | sed 's/^/Q /'
asked=
for place in "$shared" $(cat "$HOME/.autopack/places" 2>/dev/null); do
  case "|$seen|" in *"|$place|"*) continue ;; esac
  seen="$seen|$place"
  cd "$place/jobs" 2>/dev/null || continue
  for each in $(ls -t 2>/dev/null | head -n "$most"); do
    [ -s "$each/id" ] || continue
    number=$(cat "$each/id")
    if [ -n "$wanted" ] && [ "$number" != "$wanted" ]; then continue; fi
    printf 'D %s %s\nI %s %s\n' "$each" "$place/jobs/$each" "$each" "$number"
    printf 'J %s %s\n' "$each" "$(head -c 65536 "$each/job.json" | tr -d '\n')"
    for file in created:C started:S end:E; do
      [ -s "$each/${file%:*}" ] && printf '%s %s %s\n' "${file#*:}" "$each" "$(head -n 1 "$each/${file%:*}")"
    done
    case "$queue" in *"|autopack-submission=$each"*) continue ;; esac
    [ -s "$each/end" ] || asked=$asked,$number
  done
done
if [ -n "$asked" ]; then
  sacct --noheader --parsable2 --allocations --jobs="${asked#,}" --format=)sh";
  text += accounting_format;
  text += R"sh( 2>/dev/null | sed 's/^/A /'
fi
printf 'end\n'
)sh";
  return text;
}

std::vector<KnownJob> read_jobs(std::string_view text) {
  std::map<std::string, KnownJob> jobs;
  std::string queue;
  std::string accounting;
  for (const auto& line : lines_of(text)) {
    if (line.starts_with("Q ")) {
      queue += line.substr(2) + "\n";
    } else if (line.starts_with("A ")) {
      accounting += line.substr(2) + "\n";
    } else {
      take_job_line(jobs, line);
    }
  }
  take_queued(jobs, read_queue(queue), &KnownJob::queued);
  take_queued(jobs, read_accounting(accounting), &KnownJob::accounted);
  std::vector<KnownJob> all;
  for (auto& [id, job] : jobs) {
    if (!job.id.empty()) {
      all.push_back(std::move(job));
    }
  }
  const auto number = [](const KnownJob& job) {
    return std::pair{job.created.value_or(0), whole_number<std::uint64_t>(job.id).value_or(0)};
  };
  std::ranges::stable_sort(
      all, [&](const KnownJob& a, const KnownJob& b) { return number(a) > number(b); });
  return all;
}

std::string logs_script(const std::string& directory, const Offsets& offsets) {
  std::string text = "cd " + shell_quote(directory) + " || exit 3\nbegin() {\n  case $1 in\n";
  for (const auto& [name, offset] : offsets) {
    text += fmt::format("    {}) printf %s {} ;;\n", shell_quote(name), offset);
  }
  text += "    *) printf %s 0 ;;\n  esac\n}\n";
  text += fmt::format("most={}\n", most_log_bytes);
  text += R"sh(for file in batch.log logs/*.log; do
  [ -f "$file" ] || continue
  name=${file#logs/}
  name=${name%.log}
  from=$(begin "$name")
  size=$(($(wc -c < "$file")))
  if [ "$size" -lt "$from" ]; then from=0; fi
  count=$((size - from))
  if [ "$count" -gt "$most" ]; then count=$most; fi
  if [ "$count" = 0 ]; then continue; fi
  printf 'L %s %s %s\n' "$name" "$from" "$count"
  tail -c "+$((from + 1))" "$file" | head -c "$count"
  printf '\n'
done
printf 'end\n'
)sh";
  return text;
}

std::optional<std::vector<LogPiece>> read_logs(std::string_view text) {
  std::vector<LogPiece> pieces;
  while (!text.empty()) {
    const auto line_end = text.find('\n');
    if (line_end == std::string_view::npos) {
      return std::nullopt;
    }
    const auto words = split(text.substr(0, line_end), ' ');
    text.remove_prefix(line_end + 1);
    if (words.size() == 1 && words[0] == "end") {
      return pieces;
    }
    const auto offset = words.size() == 4 ? whole_number<std::uint64_t>(words[2]) : std::nullopt;
    const auto count = words.size() == 4 ? whole_number<std::size_t>(words[3]) : std::nullopt;
    if (!offset || !count || words[0] != "L" || *count >= text.size() || text[*count] != '\n') {
      return std::nullopt;
    }
    pieces.push_back(
        {.name = words[1], .offset = *offset, .text = std::string{text.substr(0, *count)}});
    text.remove_prefix(*count + 1);
  }
  return std::nullopt;
}

std::string receiver_path(const std::string& directory, const std::string& key) {
  return directory + "/images/" + key + ".receive";
}

std::string bundle_script(const std::string& directory,
                          const std::string& key,
                          const std::string& configuration) {
  const auto image = key.substr(0, key.find('.'));
  auto text = fmt::format("umask 077\nimages={}\nkey={}\nimage={}\nconfiguration={}\n",
                          shell_quote(directory + "/images"), shell_quote(key), shell_quote(image),
                          shell_quote(configuration));
  text += R"sh(mkdir -p "$images" && cd "$images" || exit 3
if [ -d "$key" ]; then touch "$key"; echo present; exit 0; fi
appear() {
  printf %s "$configuration" > "$1/config.json" || return 1
  mv -T "$1" "$key" 2>/dev/null || [ -d "$key" ]
}
for other in "$image".*/; do
  [ -d "$other/rootfs" ] || continue
  new=.$key.$$
  if mkdir "$new" && cp -al "$other/rootfs" "$new/rootfs" 2>/dev/null && appear "$new"; then
    echo present
    exit 0
  fi
  rm -rf "$new"
done
printf %s "$configuration" > "$key.json.$$" && mv -f "$key.json.$$" "$key.json" || exit 3
cat > "$key.receive.$$" <<'receiver' && mv -f "$key.receive.$$" "$key.receive" || exit 3
umask 022
cd "${0%/*}" || exit 3
name=${0##*/}
key=${name%.receive}
new=.$key.$$
remove() { chmod -R u+rwX "$new" 2>/dev/null; rm -rf "$new"; }
trap remove EXIT
trap 'exit 1' TERM HUP INT
mkdir -m 700 "$new" || exit 3
tar -x -p -f - -C "$new" || exit 3
cp "$key.json" "$new/config.json" || exit 3
mv -T "$new" "$key" 2>/dev/null || [ -d "$key" ] || exit 3
rm -f "$name" "$key.json"
echo done
receiver
echo absent
)sh";
  return text;
}

}  // namespace autopack::slurm
