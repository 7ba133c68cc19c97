#include "attest/bundle.hpp"
#include "attest/provenance.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "build/cloud/build_failure.hpp"
#include "build/cloud/build_run.hpp"
#include "engine/docker.hpp"
#include "engine/transfer.hpp"
#include "executor/probe.hpp"
#include "executor/programs.hpp"
#include "google/api_error.hpp"
#include "google/artifact_registry.hpp"
#include "google/cloud_build.hpp"
#include "google/explanation.hpp"
#include "google/jobs.hpp"
#include "google/logging.hpp"
#include "google/storage.hpp"
#include "google/timestamp.hpp"
#include "image/file_image.hpp"
#include "registry/client.hpp"
#include "registry/referrers.hpp"
#include "scratch.hpp"
#include "scripted_http.hpp"
#include "slurm/commands.hpp"
#include "slurm/connection.hpp"
#include "slurm/state.hpp"
#include "submit/job_state.hpp"
#include "support/fake_google.hpp"
#include "support/recording_reporter.hpp"
#include "target.hpp"

/// What servers answer, and images that came from elsewhere.
namespace autopack::fuzz {

namespace {

namespace fs = std::filesystem;

/// More requests than this to one server for one question are a loop.
constexpr int most_requests{500};

/// A document that somebody attached to an image, or the list of them.
void attached_documents(std::string_view bytes) {
  const std::string what = "a document";
  const unsigned step = next_byte(bytes);
  if (step % 3 == 0) {
    registry::parse_referrers(bytes, what);
    return;
  }
  std::string text{bytes};
  if (step % 3 == 1) {
    static const PublicKey key{
        "-----BEGIN PUBLIC KEY-----\n"
        "MCowBQYDK2VwAyEAS3A4ffUaZkRtErJUWbOXIqg6dxxPw1P459Or7FzHdsM=\n"
        "-----END PUBLIC KEY-----\n",
        "key.pub"};
    const auto bundle = attest::parse_bundle(bytes, what);
    if (attest::verified_statement(bundle, key, sha256("image"), what)) {
      fail("nobody can sign with this key");
    }
    text = bundle.payload;
  }
  const auto provenance = attest::provenance_of(attest::parse_statement(text, what), what);
  const auto again = attest::parse_statement(
      attest::statement_text("", sha256("image"), attest::predicate_type::provenance,
                             attest::to_json(provenance)),
      what);
  // Logins are left out when it is written, so only the second copy is equal.
  const auto copy = attest::provenance_of(again, what);
  if (attest::to_json(copy) != attest::to_json(provenance)) {
    fail("provenance changes when it is written and read");
  }
}

/// A step, then the answers.
void registry_answers(std::string_view bytes) {
  const unsigned step = next_byte(bytes);
  ScriptedHttp client{bytes};
  const auto repository = registry::make_repository(
      step >= 128 ? "127.0.0.1:5000" : "registry.example.com", "team/app", registry::Access::push,
      {.client = &client,
       .credentials =
           [](const std::string&) {
             return std::optional{
                 registry::Credential{.username = "a", .password = Secret{"b"}, .origin = "here"}};
           },
       .sleep = [](std::chrono::milliseconds) {}});
  const std::string content = "content of a blob";
  const image::Descriptor known{.digest = sha256(content), .size = content.size()};
  switch (step % 10) {
    case 0: repository->check_access(); break;
    case 1: repository->head_manifest("latest"); break;
    case 2: repository->manifest("latest"); break;
    case 3: repository->image_manifest("latest", "linux/amd64"); break;
    case 4:
      repository->put_manifest({.media_type = "a/b", .text = "{}", .digest = sha256("{}")},
                               "latest");
      break;
    case 5: repository->tags(); break;
    case 6: repository->read_blob(known); break;
    case 7:
      repository->push_blob(
          {.known = known,
           .open = registry::source_of(content),
           .mount_from = step >= 64 ? std::optional<std::string>{"team/base"} : std::nullopt},
          {});
      break;
    case 8: repository->push_blob({.open = registry::source_of(content)}, {}); break;
    default: {
      const std::string large(3U << 20U, 'x');
      repository->push_blob(
          {.known = image::Descriptor{.digest = sha256(large), .size = large.size()},
           .open = registry::source_of(large)},
          {});
    }
  }
  if (client.requests() > most_requests) {
    fail("the registry is asked without end");
  }
}

/// A step, then the answers; the first ones are to the question what the engine can do.
void engine_answers(std::string_view bytes) {
  const unsigned step = next_byte(bytes);
  std::string script = step >= 128 ? "200\nApi-Version: 1.41\nLibpod-Api-Version: 4.3.1\n\nOK"
                                   : "200\nApi-Version: 1.41\n\nOK";
  script += '\0';
  script += R"(200

{"Version":"20.10","Os":"linux","Arch":"amd64"})";
  script += '\0';
  script += bytes;
  ScriptedHttp client{script};
  testing::RecordingReporter reporter;
  const engine::DockerOptions options{
      .endpoint = {.url = "tcp://127.0.0.1:1"}, .reporter = &reporter, .client = &client};
  const auto docker = engine::make_docker(options);
  docker->info();
  const auto name = image::Reference::parse("registry.example.com/team/app:1");
  switch (step % 10) {
    case 0: docker->inspect(name.text); break;
    case 1: docker->resolve(name); break;
    case 2: docker->pull(name, "linux/amd64"); break;
    case 3: docker->push(name); break;
    case 4: docker->held(name.text); break;
    case 5: docker->run_times(name.text); break;
    case 6:
      docker->with_files(name.text, "linux/amd64", [](engine::ImageFiles& files) {
        files.probe({"/usr/bin/python3", "/a"});
      });
      break;
    case 7: docker->read_file(name.text, "/a/b", 1000); break;
    case 8: executor::probe_base(*docker, name, "linux/amd64"); break;
    default: engine::read_settings(options);
  }
}

void engine_transfer(std::string_view bytes) {
  testing::RecordingReporter reporter;
  engine::Transfer transfer{&reporter};
  for (std::size_t at = 0; at < bytes.size(); at += 11) {
    transfer.feed(bytes.substr(at, 11));
  }
  transfer.finish();
  transfer.layers();
  engine::transfer_error("push", image::Reference::parse("a/b"), transfer.complaint().value_or(""),
                         "here");
}

void look_at(const google::Job& job) {
  if (job == nullptr) {
    return;
  }
  submit::state_of(*job);
  submit::failure_of(*job);
  submit::logging_job_id(*job);
}

/// A step, then the answers.
void cloud_build_answers(std::string_view bytes) {
  const unsigned step = next_byte(bytes);
  testing::RecordingReporter reporter;
  build::CloudLog log{reporter, {}};
  if (step % 4 == 3) {
    log.feed(bytes);
    log.finish();
    log.last_lines();
    return;
  }
  ScriptedHttp client{bytes};
  testing::FakeGoogle google{client};
  const google::Builds builds{google.service, {.project = "p", .region = "us-east1"}, {}};
  const google::Storage storage{google.service, {}};
  if (step % 4 == 0) {
    const auto build =
        build::run_build({.builds = &builds,
                          .storage = &storage,
                          .body = std::make_shared<const nlohmann::json>(nlohmann::json::object()),
                          .tag = "t",
                          .source = {.bucket = "b"},
                          .uninterrupted = [&]() -> http::Client& { return client; },
                          .reporter = &reporter},
                         log);
    const build::ContextParts parts{};
    build::cloud_build_error({.build = build.get(),
                              .log = &log,
                              .parts = &parts,
                              .place = builds.place(),
                              .bucket = "b",
                              .image = "us-docker.pkg.dev/p/r/i:t"});
  } else if (step % 4 == 1) {
    storage.upload(
        {.bucket = "b", .name = "n", .size = 10, .read = [](std::uint64_t, std::size_t size) {
           return std::string(size, 'x');
         }});
  } else {
    storage.missing_permissions("b", {"p"});
    storage.is_in_project("b", "p");
  }
}

/// A step, then the answers.
void google_answers(std::string_view bytes) {
  const unsigned step = next_byte(bytes);
  ScriptedHttp client{bytes};
  testing::FakeGoogle google{client};
  const google::Jobs jobs{google.service, {}};
  const google::JobName name{.project = "p", .region = "us-east1", .id = "1"};
  testing::CountingTokens tokens;
  switch (step % 6) {
    case 0: look_at(jobs.get(name)); break;
    case 1: {
      int listed = 0;
      jobs.list({.project = "p", .region = "us-east1"}, [&](const google::Job& job) {
        look_at(job);
        return ++listed < 100;
      });
      break;
    }
    case 2: jobs.cancel(name); break;
    case 3: {
      const auto call = google::entries_call({.project = "p", .job_id = "1"}, {}, {});
      google::read_log_page(call, google.service.ask(call));
      break;
    }
    case 4:
      google::ensure_repository({.caller = {.client = &client, .credentials = &tokens},
                                 .sleep = [](std::chrono::milliseconds) {}},
                                {.project = "p", .location = "us-east1", .repository = "r"});
      break;
    default: look_at(google::read_job({}, {.status = 200, .body = std::string{bytes}}));
  }
}

void google_errors(std::string_view bytes) {
  const http::Response response{.status = 400, .body = std::string{bytes}};
  google::describe(google::read_api_error(response), "GET", "https://example.com/");
  google::explain(bytes, {.project = "p", .region = "us-east1"});
  if (const auto time = google::Timestamp::parse(bytes)) {
    if (google::Timestamp::parse(time->text()) != time) {
      fail("a time does not come back: " + time->text());
    }
    time->readable();
  }
}

/// An image in files as it stands in a tar: what `docker save` writes, or an OCI layout.
void image_archive(std::string_view bytes) {
  static const fs::path file = scratch() / "image.tar";
  put(file, bytes);
  const auto reference = image::FileReference::parse("tar:" + file.string());
  const auto source = image::open_files(*reference, "linux/amd64");
  image::check_layers(source);
  executor::read_facts(source);
}

/// An image in an OCI layout: `index.json`, then blobs, with a byte 0 between. A blob is found by
/// its digest, so each `@N` of a document stands for that of the blob N.
void image_layout(std::string_view bytes) {
  static const fs::path directory = scratch() / "layout";
  put(directory / "oci-layout", R"({"imageLayoutVersion": "1.0.0"})");
  std::vector<std::string> documents;
  while (!bytes.empty() && documents.size() < 9) {
    documents.emplace_back(next_part(bytes));
  }
  std::vector<fs::path> blobs;
  for (std::size_t number = documents.size(); number-- > 0;) {
    const Digest digest = sha256(documents[number]);
    const std::string name = "@" + std::to_string(number);
    for (std::size_t other = 0; other < number; ++other) {
      for (auto at = documents[other].find(name);
           at != std::string::npos && documents[other].size() < 20'000;
           at = documents[other].find(name, at + 1)) {
        documents[other].replace(at, name.size(), digest.str());
      }
    }
    blobs.push_back(
        put(number == 0 ? directory / "index.json" : directory / "blobs" / "sha256" / digest.hex(),
            documents[number]));
  }

  struct Removal {
    std::vector<fs::path> files;

    ~Removal() {
      for (const auto& file : files) {
        std::error_code ignored;
        fs::remove(file, ignored);
      }
    }
  } const removal{blobs};

  const auto reference = image::FileReference::parse("oci:" + directory.string());
  const auto source = image::open_files(*reference, "linux/amd64");
  image::check_layers(source);
  executor::read_facts(source);
}

/// What a login machine of a cluster prints: a step, then the text.
void slurm_answers(std::string_view bytes) {
  const unsigned step = next_byte(bytes);
  const std::string text{bytes};
  switch (step % 7) {
    case 0: slurm::between_marks(text, "mark"); break;
    case 1: slurm::read_facts(text); break;
    case 2: slurm::findings(slurm::read_test(text), {.partition = "main"}, 60, 2); break;
    case 3: slurm::read_submitted(text); break;
    case 4:
      for (const auto& job : slurm::read_jobs(text)) {
        print_json(slurm::job_resource(job, "login"));
      }
      break;
    case 5: {
      const auto pieces = slurm::read_logs(text);
      std::size_t size = 0;
      for (const auto& piece : pieces ? *pieces : std::vector<slurm::LogPiece>{}) {
        size += piece.text.size();
      }
      if (size > text.size()) {
        fail("more text than there is");
      }
      break;
    }
    default: slurm::read_accounting(text); break;
  }
}

}  // namespace

std::vector<Target> service_targets() {
  return {{"attached_documents", attached_documents},
          {"registry_answers", registry_answers},
          {"engine_answers", engine_answers},
          {"engine_transfer", engine_transfer},
          {"google_answers", google_answers},
          {"google_errors", google_errors},
          {"image_archive", image_archive},
          {"image_layout", image_layout},
          {"cloud_build_answers", cloud_build_answers},
          {"slurm_answers", slurm_answers}};
}

}  // namespace autopack::fuzz
