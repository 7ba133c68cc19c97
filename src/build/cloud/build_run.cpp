#include "build/cloud/build_run.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "build/cloud/build_request.hpp"
#include "http/retry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// A build costs money, and the API's create has no request id. Each build has a tag of its own, by
// which it is found after an unclear answer.

namespace autopack::build {

namespace {

using google::Build;
using nlohmann::json;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr int most_build_creates = 4;
/// A build may appear in the list a little after its creation. Waits before each attempt.
constexpr std::array build_looks{0ms, 1000ms, 3000ms};
constexpr std::size_t hurried_build_looks = 2;

constexpr milliseconds first_poll{1000};
constexpr milliseconds longest_poll{5000};
/// Failures of polls in a row: two minutes.
constexpr int most_lost_polls = 24;
/// The log is complete a little after the build's end.
constexpr int most_log_waits = 3;
constexpr std::size_t log_piece = std::size_t{1} << 20U;

std::string id_of(const Build& build) {
  return text_at(*build, "id");
}

bool has_ended(const Build& build) {
  static constexpr std::array running{std::string_view{"STATUS_UNKNOWN"},
                                      std::string_view{"PENDING"}, std::string_view{"QUEUED"},
                                      std::string_view{"WORKING"}, std::string_view{}};
  return !contains(running, std::string_view{text_at(*build, "status")});
}

std::vector<Build> tagged_builds(const google::Builds& builds, const BuildRun& run) {
  std::vector<Build> found;
  builds.list(run.tag, [&](const Build& build) {
    if (contains(google::list_in(*build, "tags"), run.tag)) {
      found.push_back(build);
    }
    return true;
  });
  return found;
}

Build look_for_build(const google::Builds& builds,
                     const BuildRun& run,
                     std::span<const milliseconds> waits) {
  for (const auto wait : waits) {
    if (wait > 0ms) {
      builds.service().options().sleep(wait);
    }
    if (const auto found = tagged_builds(builds, run); !found.empty()) {
      return found.front();
    }
  }
  return nullptr;
}

Error unclear_build(const BuildRun& run, const std::vector<std::string>& causes) {
  Error error{ErrorKind::remote, "it is not known whether Cloud Build started the build"};
  for (const auto& cause : causes) {
    error.cause(cause);
  }
  return error.hint("look before you build again: " + list_command(run.builds->place(), run.tag))
      .hint("its source is deleted, so that it cannot succeed");
}

/// The result of a create that returned no build.
struct FailedBuildCreate {
  bool may_have_made_one{false};
  std::vector<std::string> causes{};
  std::optional<milliseconds> wait{};  ///< requested by the service
};

/// Sends one create. Returns the build, or fills in `failed`. Throws if the service surely refused.
Build try_create_build(const BuildRun& run, int tries, FailedBuildCreate& failed) {
  using Reason = http::TransportError::Reason;
  const auto call = run.builds->create_call(write_json(*run.body));
  try {
    const auto response = run.builds->service().send(call);
    if (response.ok()) {
      try {
        return google::read_created_build(call, response);
      } catch (const Error& error) {
        failed = {.may_have_made_one = true, .causes = error.causes()};
        return nullptr;
      }
    }
    auto refused = run.builds->refused("Cloud Build refused the build", call, response);
    const auto retry_after = response.header("retry-after").value_or("");
    const bool is_busy =
        response.status == 429 && !retry_after.empty() && tries < most_build_creates;
    if (!is_busy && response.status != 408 && response.status < 500) {
      throw refused;
    }
    failed = {.may_have_made_one = !is_busy, .causes = refused.causes()};
    if (is_busy) {
      failed.wait = http::retry_delay({.number = tries, .status = 429, .retry_after = retry_after},
                                      0.5, std::time(nullptr));
    }
  } catch (const http::TransportError& error) {
    if (error.reason() == Reason::tls) {
      throw;
    }
    failed = {
        .may_have_made_one = error.reason() != Reason::connect && error.reason() != Reason::resolve,
        .causes = {error.message()}};
    failed.causes.insert(failed.causes.end(), error.causes().begin(), error.causes().end());
  }
  return nullptr;
}

/// An earlier attempt may take effect long after its answer was lost: cancels its build. Failures
/// are only warnings.
void cancel_twin_builds(const BuildRun& run, const Build& build) {
  try {
    for (const auto& other : tagged_builds(*run.builds, run)) {
      if (id_of(other) != id_of(build)) {
        run.builds->cancel(id_of(other));
        run.reporter->warn(Problem::warning(
            {.message = fmt::format("an earlier attempt had started build `{}` after all: it is "
                                    "cancelled",
                                    id_of(other))}));
      }
    }
  } catch (const Error& error) {
    run.reporter->warn(Problem::warning(
        {.message =
             fmt::format("{}: an earlier attempt may have started a second build", error.message()),
         .hints = {"look: " + list_command(run.builds->place(), run.tag)}}));
  }
}

Build create_build(const BuildRun& run) {
  bool may_have_twins = false;
  for (int tries = 1;; ++tries) {
    FailedBuildCreate failed;
    if (auto build = try_create_build(run, tries, failed)) {
      if (may_have_twins) {
        cancel_twin_builds(run, build);
      }
      return build;
    }
    may_have_twins = may_have_twins || failed.may_have_made_one;
    if (failed.may_have_made_one) {
      run.reporter->detail(
          "the answer to the request is unclear: looking for the build by its tag");
      try {
        if (auto found = look_for_build(*run.builds, run, build_looks)) {
          return found;
        }
      } catch (const Error& error) {
        throw unclear_build(run, failed.causes).cause(error.message());
      }
    }
    if (tries == most_build_creates) {
      Error error{ErrorKind::remote, "the build could not be started in Cloud Build"};
      for (const auto& cause : failed.causes) {
        error.cause(cause);
      }
      throw error;
    }
    run.builds->service().options().sleep(failed.wait.value_or(500ms * tries));
  }
}

/// Follows the log object of a build.
class LogReader {
public:
  LogReader(const BuildRun& run, google::StoredObject object, CloudLog& log)
      : run_{run}, object_{std::move(object)}, log_{log} {}

  /// Reads what is new. A log that cannot be read is not worth a failure: reports it once.
  void read() {
    try {
      while (true) {
        const auto part = run_.storage->read(object_, offset_, log_piece);
        if (part.bytes.empty()) {
          return;
        }
        offset_ += part.bytes.size();
        log_.feed(part.bytes);
      }
    } catch (const Error& error) {
      failures_ += 1;
      if (failures_ == most_lost_polls) {
        run_.reporter->warn(Problem::warning(
            {.message = fmt::format("the log `{}` cannot be read", object_.url()),
             .reason = error.causes().empty() ? error.message() : error.causes().front()}));
      }
    }
  }

  void read_to_end() {
    read();
    for (int i = 0; i < most_log_waits && !log_.is_whole(); ++i) {
      run_.builds->service().options().sleep(first_poll);
      read();
    }
    log_.finish();
  }

private:
  const BuildRun& run_;
  google::StoredObject object_;
  CloudLog& log_;
  std::uint64_t offset_{0};
  int failures_{0};
};

/// Returns the next state of the build; the same as `last` while it cannot be read.
Build poll(const BuildRun& run, const Build& last, int& lost) {
  try {
    auto now = run.builds->get(id_of(last));
    if (now) {
      lost = 0;
      return now;
    }
    throw Error(ErrorKind::remote, fmt::format("Cloud Build has lost build `{}`", id_of(last)));
  } catch (Error& error) {
    if (error.kind() != ErrorKind::remote || ++lost > most_lost_polls) {
      throw;
    }
    run.reporter->detail(error.what());
    return last;
  }
}

Build follow_build(const BuildRun& run, Build build, CloudLog& log) {
  LogReader reader{run, log_of(run.source, id_of(build)), log};
  auto wait = first_poll;
  int lost = 0;
  const LiveStep shown{*run.reporter, "build in Cloud Build"};
  while (!has_ended(build)) {
    run.builds->service().options().sleep(wait);
    wait = std::min(wait * 3 / 2, longest_poll);
    build = poll(run, build, lost);
    reader.read();
  }
  reader.read_to_end();
  return build;
}

/// Cancels the build, if there is one, after an interruption. Returns what became of it.
Interrupted interrupted_build(const BuildRun& run, Build build) {
  try {
    auto service = run.builds->service().over(run.uninterrupted());
    const auto builds = run.builds->over(service);
    if (!build) {
      run.reporter->warn(Problem::warning(
          {.message = "interrupted while the build was being started: asking whether it exists "
                      "(interrupt again to exit at once)"}));
      build = look_for_build(builds, run, std::span{build_looks}.first(hurried_build_looks));
    }
    if (!build) {
      return Interrupted{Error(ErrorKind::interrupted, "interrupted; no build was started")};
    }
    builds.cancel(id_of(build));
    return Interrupted{Error(ErrorKind::interrupted,
                             fmt::format("interrupted; build `{}` is cancelled", id_of(build)))};
  } catch (const Error& error) {
    return Interrupted{
        Error(ErrorKind::interrupted, "interrupted; the build may continue in Cloud Build")
            .cause(error.message())
            .hint("look: " + list_command(run.builds->place(), run.tag))};
  }
}

/// Cancels a build that cannot be followed any more, so that it costs no more money.
void abandon_build(const BuildRun& run, const Build& build) {
  try {
    run.builds->cancel(id_of(build));
    run.reporter->detail(fmt::format("build `{}` is cancelled", id_of(build)));
  } catch (const Error& error) {
    run.reporter->warn(Problem::warning(
        {.message = fmt::format("build `{}` may continue in Cloud Build", id_of(build)),
         .hints = {"look: " + list_command(run.builds->place(), run.tag)},
         .reason = error.message()}));
  }
}

}  // namespace

std::string list_command(const google::BuildPlace& place, const std::string& tag) {
  return fmt::format("gcloud builds list --project={} --region={} --filter=tags={}",
                     shell_quote(place.project), shell_quote(place.region), shell_quote(tag));
}

Build run_build(const BuildRun& run, CloudLog& log) {
  // An interruption before anything is sent leaves nothing to clarify.
  run.builds->service().fetch_token();
  Build build;
  try {
    build = create_build(run);
    const auto page = google::build_page(*build);
    run.reporter->done("Started", fmt::format("build `{}` in Cloud Build{}", id_of(build),
                                              page.empty() ? "" : ": " + page));
    return follow_build(run, build, log);
  } catch (const Interrupted&) {
    throw interrupted_build(run, build);
  } catch (const Error&) {
    if (build) {
      abandon_build(run, build);
    }
    throw;
  }
}

}  // namespace autopack::build
