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

  Problems check(const job::Job& /*job*/) const override {
    return job::missing_parts(options_.location);
  }

  void make_ready() override { options_.service->make_ready(); }

  PreparedRequest prepare(const job::Job& job) const override;
  SubmittedJob submit(const job::Job& job) override;

private:
  google::JobQuery where(const job::Job& job) const {
    return {.project = options_.location.project.value(),
            .region = options_.location.region.value(),
            .kind = google::kind_of(job::collection_of(job.kind)).value()};
  }

  VertexOptions options_;
  google::Jobs jobs_;
};

PreparedRequest VertexSubmitter::prepare(const job::Job& job) const {
  const auto call = jobs_.create_call(where(job), {});
  return {.method = call.method,
          .url = call.url,
          .body = std::make_shared<const json>(job::resource(job))};
}

SubmittedJob VertexSubmitter::submit(const job::Job& job) {
  auto body = job::resource(job);
  const auto url = jobs_.create_call(where(job), {}).url;
  const auto key = sha256(url + "\n" + write_json(body)).hex();
  state::Submission submission{options_.records, key, new_submission_id()};
  body["labels"][submission_label] = submission.id();
  const auto as_submitted = [](const google::Job& answer) {
    return SubmittedJob{.name = printable(text_at(*answer, "name")), .answer = answer};
  };
  return as_submitted(create_once(
      {.jobs = &jobs_,
       .where = where(job),
       .body = std::make_shared<const json>(std::move(body)),
       .uninterrupted = options_.uninterrupted,
       .reporter = options_.reporter,
       .created = [&](const google::Job& answer) { options_.created(as_submitted(answer)); },
       .was_tried = submission.is_left(),
       .record = submission.file(),
       .settled = [&] { submission.settle(); }}));
}

}  // namespace

std::unique_ptr<Submitter> make_vertex_submitter(VertexOptions options) {
  return std::make_unique<VertexSubmitter>(std::move(options));
}

}  // namespace autopack::submit
