#include "base/text.hpp"
#include "job/merge.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace autopack::job {

namespace {

class PipelineMerge {
public:
  PipelineMerge(const JobFlags& flags, Job& job, Problems& problems)
      : flags_{flags}, job_{job}, problems_{problems} {}

  void run();
  void refuse();

private:
  ServingContainer& container() { return ensure(ensure(job_.model).container); }

  void ports();
  void env();
  void labels();

  const JobFlags& flags_;
  Job& job_;
  Problems& problems_;
};

/// Reports pipeline flags of a job that is not a pipeline.
void PipelineMerge::refuse() {
  std::vector<std::string_view> given;
  for (const auto& field : flags_.fields) {
    if (is_of_pipeline(*field.flag)) {
      given.push_back(field.flag->flag);
    }
  }
  const std::array<std::pair<bool, std::string_view>, 3> others{{
      {!flags_.serving.ports.empty(), "--model-ports"},
      {!flags_.serving.env.empty(), "--model-env"},
      {!flags_.serving.labels.empty(), "--model-labels"},
  }};
  for (const auto& [is_given, flag] : others) {
    if (is_given) {
      given.push_back(flag);
    }
  }
  for (const auto flag : given) {
    problems_.push_back({.message = fmt::format("`{}` is for a training pipeline", flag),
                         .origin = to_string(flags_.origin(flag)),
                         .hints = {"--as=training-pipeline"}});
  }
}

void PipelineMerge::ports() {
  if (flags_.serving.ports.empty()) {
    return;
  }
  auto& ports = container().ports.emplace();
  for (const auto& text : flags_.serving.ports) {
    std::int32_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size() || port < 1 || port > 65535) {
      problems_.push_back({.message = fmt::format("`{}` is not a port", printable(text)),
                           .origin = to_string(flags_.origin("--model-ports"))});
    }
    ports.push_back({.number = port});
  }
  job_.origins["modelToUpload.containerSpec.ports"] = flags_.origin("--model-ports");
}

void PipelineMerge::env() {
  if (flags_.serving.env.empty()) {
    return;
  }
  auto& env = container().env.emplace();
  for (const auto& [name, value] : flags_.serving.env) {
    env.push_back({.name = name, .value = value});
  }
  job_.origins["modelToUpload.containerSpec.env"] = flags_.origin("--model-env");
}

void PipelineMerge::labels() {
  for (const auto& [key, value] : flags_.serving.labels) {
    ensure(ensure(job_.model).labels)[key] = value;
    job_.origins["modelToUpload.labels." + key] = flags_.origin("--model-labels");
  }
}

void PipelineMerge::run() {
  for (const auto& given : flags_.fields) {
    if (is_of_pipeline(*given.flag)) {
      set_field(given, job_, problems_);
    }
  }
  ports();
  env();
  labels();
}

}  // namespace

void merge_pipeline(const JobFlags& flags, Job& job, Problems& problems) {
  PipelineMerge merge{flags, job, problems};
  is_pipeline(job.kind) ? merge.run() : merge.refuse();
}

}  // namespace autopack::job
