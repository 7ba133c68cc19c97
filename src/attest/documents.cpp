#include "attest/documents.hpp"

#include "attest/bundle.hpp"
#include "attest/cosign.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/timestamp.hpp"
#include "base/url.hpp"
#include "build/wheels/installed_wheels.hpp"
#include "registry/referrers.hpp"
#include "services/repositories.hpp"
#include "source/git.hpp"
#include "source/git_work_tree.hpp"
#include "version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

namespace autopack::attest {

namespace {

using packaging::Packaging;

/// Annotations of a manifest: cosign's for its bundles, BuildKit's for statements.
constexpr auto* content_annotation = "dev.sigstore.bundle.content";
constexpr auto* bundle_predicate_annotation = "dev.sigstore.bundle.predicateType";
constexpr auto* predicate_annotation = "in-toto.io/predicate-type";

Source source_of(const Services& services, const Packaging& work) {
  const auto& request = work.request();
  const auto& directory = request.project.directory;
  Source source{.kind = request.is_from_git() && request.source != source::index_source
                            ? "commit"
                            : request.source};
  const auto facts = source::find_git_facts(directory, request.source, services.environment);
  if (!facts) {
    return source;
  }
  source.commit = facts->revision;
  source.is_dirty = facts->dirty;
  if (facts->remote) {
    source.repository = redact_url(*facts->remote);
  }
  if (const auto tree = source::find_git_work_tree(directory, services.environment)) {
    source.directory = tree->prefix.substr(0, tree->prefix.find_last_not_of('/') + 1);
  }
  return source;
}

/// Returns the time that a reproducible build states, else the current one.
std::string time_of_build(const Services& services) {
  std::int64_t seconds = std::time(nullptr);
  if (const auto given = services.environment.get("SOURCE_DATE_EPOCH")) {
    std::from_chars(given->data(), given->data() + given->size(), seconds);
  }
  return in_rfc3339(seconds);
}

std::vector<Input> inputs_of(Services& services, const Packaging& work) {
  const auto& base = work.plan().base;
  std::vector<Input> inputs;
  if (!base.reference.empty()) {
    Input executor{.role = Input::Role::executor_image, .name = base.reference};
    if (base.digest) {
      executor.digest = {{"sha256", base.digest->hex()}};
    }
    inputs.push_back(std::move(executor));
  }
  if (!work.needs_dependencies()) {
    return inputs;
  }
  if (services.repository_facts && base.digest) {
    services.repository_facts->read(*base.digest, work.plan().platform);
  }
  if (const auto resolution = build::find_resolution(services, work)) {
    inputs.push_back({.role = Input::Role::resolution,
                      .name = "pylock.toml",
                      .digest = {{"sha256", sha256(*resolution).hex()}},
                      .content = resolution});
  }
  for (auto& wheel : build::find_installed_wheels(services, work)
                         .value_or(std::vector<build::InstalledWheel>{})) {
    inputs.push_back({.role = Input::Role::wheel,
                      .name = std::move(wheel.file),
                      .uri = std::move(wheel.url),
                      .digest = {{"sha256", wheel.digest.hex()}}});
  }
  return inputs;
}

/// A document as it goes into the registry.
struct Prepared {
  std::string name{};
  registry::Attachment attachment{};
};

registry::Attachment plain_attachment(const Document& document) {
  registry::Attachment attachment{.artifact_type = document.media_type,
                                  .media_type = document.media_type};
  if (document.media_type == statement_media_type) {
    attachment.annotations = {{predicate_annotation, document.predicate_type}};
  }
  return attachment;
}

registry::Attachment bundle_attachment(const std::string& predicate_type) {
  return {.artifact_type = bundle_media_type,
          .media_type = bundle_media_type,
          .annotations = {{content_annotation, "dsse-envelope"},
                          {bundle_predicate_annotation, predicate_type}}};
}

/// True if `referrer` is of the kind of `attachment`: equal types and annotations about them.
bool is_same_kind(const registry::Referrer& referrer, const registry::Attachment& attachment) {
  const auto& there = referrer.manifest.annotations;
  return referrer.artifact_type == attachment.artifact_type &&
         std::ranges::all_of(attachment.annotations, [&](const auto& annotation) {
           const auto found = there.find(annotation.first);
           return found != there.end() && found->second == annotation.second;
         });
}

class Attaching {
public:
  Attaching(Services& services, const Packaging& work, packaging::Image& image)
      : services_{services},
        work_{work},
        image_{image},
        digest_{image.digest.value()},
        repository_{open_target(services, work.name())} {}

  void attach(std::vector<Document> documents) {
    const auto subject = repository_->head_manifest(digest_.str());
    if (!subject) {
      throw Error(ErrorKind::remote, fmt::format("the registry no longer has `{}`", image_.uri()))
          .hint("something removes images there; build it again");
    }
    there_ = registry::find_referrers(*repository_, digest_);
    documents.insert(documents.begin(), {.name = "provenance",
                                         .media_type = statement_media_type,
                                         .predicate_type = predicate_type::provenance,
                                         .text = [this] { return provenance_statement(); }});
    for (const auto& document : documents) {
      prepare(document);
    }
    if (work_.request().signing_key) {
      sign();
    }
    std::vector<std::string> names;
    for (const auto& one : prepared_) {
      const auto manifest = registry::attach(*repository_, *subject, one.attachment);
      image_.attached.push_back({.name = one.name,
                                 .artifact_type = one.attachment.artifact_type,
                                 .digest = manifest.digest});
      names.push_back(one.name);
    }
    services_.reporter->done(
        "Attached", names.empty() ? "nothing new: the documents are there" : join(names, ", "));
  }

private:
  /// A statement to sign.
  struct Unsigned {
    std::string name{};
    std::string predicate_type{};
    std::string text{};
  };

  bool has(const registry::Attachment& attachment) const {
    return std::ranges::any_of(there_, [&](const registry::Referrer& referrer) {
      return is_same_kind(referrer, attachment);
    });
  }

  void prepare(const Document& document) {
    auto plain = plain_attachment(document);
    const bool lacks_plain = !has(plain);
    const bool lacks_signed =
        work_.request().signing_key && !has(bundle_attachment(document.predicate_type));
    if (!lacks_plain && !lacks_signed) {
      return;
    }
    auto text = document.text();
    if (lacks_signed) {
      unsigned_.push_back(
          {.name = document.name,
           .predicate_type = document.predicate_type,
           .text = document.media_type == statement_media_type
                       ? text
                       : statement_text(image_.repository, digest_, document.predicate_type,
                                        parse_json(text))});
    }
    if (lacks_plain) {
      plain.bytes = std::move(text);
      prepared_.push_back({.name = document.name, .attachment = std::move(plain)});
    }
  }

  void sign() {
    if (!has(bundle_attachment(predicate_type::signature))) {
      unsigned_.push_back({.name = "image",
                           .predicate_type = predicate_type::signature,
                           .text = statement_text("", digest_, predicate_type::signature,
                                                  nlohmann::json::object())});
    }
    Cosign cosign{services_, *work_.request().signing_key};
    for (const auto& one : unsigned_) {
      auto attachment = bundle_attachment(one.predicate_type);
      attachment.bytes = cosign.sign(one.text);
      prepared_.push_back({.name = "signed " + one.name, .attachment = std::move(attachment)});
    }
  }

  /// Returns the attached provenance of a reused image, else a new one.
  std::string provenance_statement() {
    for (const auto& referrer : there_) {
      if (referrer.artifact_type == statement_media_type) {
        auto text = registry::read_attachment(*repository_, referrer);
        const auto statement = parse_statement(text, "an attached document");
        if (statement.predicate_type == predicate_type::provenance && statement.is_about(digest_)) {
          return text;
        }
      }
    }
    return statement_text(image_.repository, digest_, predicate_type::provenance,
                          to_json(make_provenance(services_, work_, image_)));
  }

  Services& services_;
  const Packaging& work_;
  packaging::Image& image_;
  Digest digest_;
  std::unique_ptr<registry::Repository> repository_;
  std::vector<registry::Referrer> there_{};
  std::vector<Unsigned> unsigned_{};
  std::vector<Prepared> prepared_{};
};

}  // namespace

Provenance make_provenance(Services& services,
                           const Packaging& work,
                           const packaging::Image& image) {
  const auto& request = work.request();
  const auto& keys = work.plan().keys.value();
  Provenance provenance{.settings = packaging::settings_of(request),
                        .platform = work.plan().platform,
                        .engine = image.engine,
                        .resolver = request.resolver == packaging::Resolver::uv ? "uv" : "engine",
                        .compiles_bytecode = request.options.compile_bytecode,
                        .labels_git = request.label_git,
                        .source_date_epoch = services.environment.get("SOURCE_DATE_EPOCH"),
                        .source = source_of(services, work),
                        .key = keys.image,
                        .dependency_key = keys.dependencies,
                        .version = AUTOPACK_VERSION,
                        .finished = time_of_build(services),
                        .inputs = inputs_of(services, work)};
  if (const auto& own = request.project.dockerfile) {
    provenance.dockerfile = own->string();
  }
  if (const auto& templates = request.options.templates) {
    provenance.templates = templates->string();
  }
  return provenance;
}

void check_attaching(Services& services, const packaging::Wanted& wanted) {
  const auto& request = wanted.request;
  if (!request.attests) {
    return;
  }
  if (!wanted.is_pushed()) {
    throw Error(
        ErrorKind::usage,
        "`--attest` attaches documents to an image in a registry, and this one is not pushed")
        .hint("name its place: `--output-image-uri=REGION-docker.pkg.dev/PROJECT/REPOSITORY/NAME`");
  }
  if (request.signing_key) {
    const Cosign checked{services, *request.signing_key};
  }
}

void attach_documents(Services& services,
                      const Packaging& work,
                      std::vector<Document> documents,
                      packaging::Image& image) {
  Attaching{services, work, image}.attach(std::move(documents));
}

}  // namespace autopack::attest
