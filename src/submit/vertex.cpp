#include "base/digest.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "state/submissions.hpp"
#include "submit/once.hpp"
#include "submit/submitter.hpp"

namespace autopack::submit {

using nlohmann::json;

namespace {

class VertexSubmitter final : public Submitter {
public:
  explicit VertexSubmitter(VertexOptions options)
      : options_{std::move(options)}, jobs_{*options_.service, options_.endpoint_override} {}

  Problems check(const job::JobSpec& job) const override;

  void make_ready() override { options_.service->make_ready(); }

  PreparedRequest prepare(const json& body) const override;
  SubmittedJob submit(const json& body) override;

private:
  google::JobQuery where(const json& body) const {
    return {.project = options_.location.project,
            .region = options_.location.region,
            .kind = google::kind_of(job::collection_of(body)).value()};
  }

  VertexOptions options_;
  google::Jobs jobs_;
};

Problems VertexSubmitter::check(const job::JobSpec&) const {
  Problems problems;
  if (options_.location.project.empty()) {
    problems.push_back(
        {.message = "no Google Cloud project is set",
         .hints = {"name it: --project=PROJECT, or gcloud config set project PROJECT"}});
  }
  if (options_.location.region.empty()) {
    problems.push_back({.message = "no region is set",
                        .hints = {"name it: --region=us-central1, or gcloud config set ai/region "
                                  "us-central1"}});
  }
  return problems;
}

PreparedRequest VertexSubmitter::prepare(const json& body) const {
  const auto call = jobs_.create_call(where(body), {});
  return {.method = call.method, .url = call.url, .body = std::make_shared<const json>(body)};
}

SubmittedJob VertexSubmitter::submit(const json& body) {
  const auto key = sha256(jobs_.create_call(where(body), {}).url + "\n" + write_json(body)).hex();
  state::Submission submission{options_.records, key, new_submission_id()};
  auto labelled = body;
  labelled["labels"][submission_label] = submission.id();
  const auto as_submitted = [](const google::Job& job) {
    return SubmittedJob{.name = printable((*job)["name"].get<std::string>()), .answer = job};
  };
  return as_submitted(
      create_once({.jobs = &jobs_,
                   .where = where(body),
                   .body = std::make_shared<const json>(std::move(labelled)),
                   .uninterrupted = options_.uninterrupted,
                   .reporter = options_.reporter,
                   .created = [&](const google::Job& job) { options_.created(as_submitted(job)); },
                   .was_tried = submission.is_left(),
                   .record = submission.file(),
                   .settled = [&] { submission.settle(); }}));
}

}  // namespace

std::unique_ptr<Submitter> make_vertex_submitter(VertexOptions options) {
  return std::make_unique<VertexSubmitter>(std::move(options));
}

}  // namespace autopack::submit
