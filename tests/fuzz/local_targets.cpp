#include "base/json.hpp"
#include "local/faults.hpp"
#include "local/job_watcher.hpp"
#include "local/metrics.hpp"
#include "local/study.hpp"
#include "target.hpp"

/// What programs of jobs on this machine write, and how people ask for faults.
namespace autopack::fuzz {

namespace {

/// A file of cloudml-hypertune.
void metrics(std::string_view bytes) {
  const std::vector<std::string> ids{"loss", "accuracy"};
  const auto all = local::read_metrics(bytes, ids);
  for (const auto& measurement : all) {
    if (measurement.metrics.empty()) {
      fail("a measurement without a metric");
    }
  }
  for (const bool best : {false, true}) {
    const auto last = local::final_measurement(
        all, {.ids = ids, .maximizes = {{"loss", false}}, .takes_best = best});
    if (last && last->metrics.size() != ids.size()) {
      fail("a final measurement that lacks a metric");
    }
  }
}

/// A trial of a study that was broken off, as its record has it.
void trials(std::string_view bytes) {
  const auto resource = parse_json(bytes);
  const auto trial = local::read_trial(resource);
  if (trial && !local::read_trial(local::resource_of(*trial))) {
    fail("a trial that does not come back");
  }
}

/// The output of a program, cut at each byte that says so.
void replica_lines(std::string_view bytes) {
  std::size_t size = 0;
  local::LineBuffer buffer{[&](std::string_view line) { size += line.size(); }};
  const auto wanted = bytes.size();
  std::size_t feeds = 0;
  for (auto end = bytes.find('\n'); !bytes.empty(); end = bytes.find('\n')) {
    const auto piece = bytes.substr(0, end == std::string_view::npos ? end : end + 1);
    buffer.feed(piece);
    bytes.remove_prefix(piece.size());
    ++feeds;
  }
  buffer.finish();
  if (size > wanted || size + feeds < wanted) {
    fail("lines that are not what was written");
  }
}

void faults_on_purpose(std::string_view bytes) {
  const std::string text{bytes};
  if (const auto fault = local::read_fault(text); fault && fault->after.count() < 0) {
    fail("a fault before the job");
  }
  if (const auto size = local::read_size(text); size && *size == 0) {
    fail("a size of nothing");
  }
}

}  // namespace

std::vector<Target> local_targets() {
  return {{"metrics", metrics},
          {"trials", trials},
          {"replica_lines", replica_lines},
          {"faults_on_purpose", faults_on_purpose}};
}

}  // namespace autopack::fuzz
