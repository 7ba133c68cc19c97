#include "attest/documents.hpp"

#include "attest/bundle.hpp"
#include "attest/cosign.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/signature.hpp"
#include "base/text.hpp"
#include "base/timestamp.hpp"
#include "base/url.hpp"
#include "build/wheels/installed_wheels.hpp"
#include "image/file_reference.hpp"
#include "registry/referrers.hpp"
#include "services/repositories.hpp"
#include "source/git.hpp"
#include "source/git_work_tree.hpp"
#include "version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

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

/// Returns `path` without directories of this machine: relative to `directory`, the project's, or
/// the file name alone if it is elsewhere.
std::string published_path(const std::string& path, const std::filesystem::path& directory) {
  const std::filesystem::path given{path};
  if (given.is_relative() && !path.starts_with('~')) {
    return path;
  }
  std::error_code ignored;
  const auto relative =
      given.lexically_relative(std::filesystem::absolute(directory, ignored)).generic_string();
  return relative.empty() || relative.starts_with("..") ? given.filename().string() : relative;
}

/// Returns an image's name as it is, and one that names files without their directory.
std::string without_directory(const std::string& reference) {
  const auto colon = reference.find(':');
  return image::names_files(reference)
             ? reference.substr(0, colon + 1) +
                   std::filesystem::path{reference.substr(colon + 1)}.filename().string()
             : reference;
}

/// Returns the settings of `request` without directories of this machine.
packaging::Settings published_settings(const packaging::Request& request) {
  auto settings = packaging::settings_of(request);
  const auto& directory = request.project.directory;
  if (auto& executor = settings.executor_image_uri) {
    executor = without_directory(*executor);
  }
  for (const auto& setting : packaging::settings) {
    if (setting.completion != packaging::Setting::Completion::files &&
        setting.reach == packaging::Setting::Reach::nothing) {
      continue;
    }
    if (const auto* text =
            std::get_if<packaging::Settings::Text packaging::Settings::*>(&setting.member);
        text != nullptr && settings.*(*text)) {
      settings.*(*text) = published_path(*(settings.*(*text)), directory);
    } else if (const auto* list =
                   std::get_if<packaging::Settings::List packaging::Settings::*>(&setting.member);
               list != nullptr && settings.*(*list)) {
      for (auto& path : *(settings.*(*list))) {
        path = published_path(path, directory);
      }
    }
  }
  return settings;
}

std::vector<Input> inputs_of(Services& services, const Packaging& work) {
  const auto& base = work.plan().base;
  std::vector<Input> inputs;
  if (!base.reference.empty()) {
    Input executor{.role = Input::Role::executor_image, .name = without_directory(base.reference)};
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

/// Nobody signs an image more often.
constexpr std::size_t most_bundles{200};

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
    if (const auto& key = work_.request().signing_key) {
      cosign_.emplace(services_, *key);
      signed_ = types_signed_with_key();
    }
    documents.insert(documents.begin(), {.name = "provenance",
                                         .media_type = statement_media_type,
                                         .predicate_type = predicate_type::provenance,
                                         .text = [this] { return provenance_statement(); }});
    for (const auto& document : documents) {
      prepare(document);
    }
    if (cosign_) {
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

  /// True if a document of that kind is attached; who attached it is not known.
  bool has(const registry::Attachment& attachment) const {
    return std::ranges::any_of(there_, [&](const registry::Referrer& referrer) {
      return is_same_kind(referrer, attachment);
    });
  }

  /// Returns the types of the attached statements about the image that the key signed. A bundle of
  /// somebody else does not count.
  std::set<std::string> types_signed_with_key() {
    std::set<std::string> types;
    std::optional<PublicKey> key;
    std::size_t read = 0;
    for (const auto& referrer : there_) {
      if (referrer.artifact_type != bundle_media_type || ++read > most_bundles) {
        continue;
      }
      if (!key) {
        key.emplace(cosign_->public_key(), "the output of cosign");
      }
      try {
        const auto bundle = parse_bundle(registry::read_attachment(*repository_, referrer), "it");
        if (const auto statement = verified_statement(bundle, *key, digest_, "it")) {
          types.insert(statement->predicate_type);
        }
      } catch (const Error& error) {
        services_.reporter->detail(
            fmt::format("an attached bundle cannot be used: {}", error.what()));
      }
    }
    return types;
  }

  void prepare(const Document& document) {
    auto plain = plain_attachment(document);
    const bool lacks_plain = !has(plain);
    const bool lacks_signed = cosign_ && !signed_.contains(document.predicate_type);
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
    if (!signed_.contains(predicate_type::signature)) {
      unsigned_.push_back({.name = "image",
                           .predicate_type = predicate_type::signature,
                           .text = statement_text("", digest_, predicate_type::signature,
                                                  nlohmann::json::object())});
    }
    for (const auto& one : unsigned_) {
      auto attachment = bundle_attachment(one.predicate_type);
      attachment.bytes = cosign_->sign(one.text);
      prepared_.push_back({.name = "signed " + one.name, .attachment = std::move(attachment)});
    }
  }

  /// Returns a statement of this run's own: signing a fetched one would vouch for a stranger's
  /// text.
  std::string provenance_statement() {
    return statement_text(image_.repository, digest_, predicate_type::provenance,
                          to_json(make_provenance(services_, work_, image_)));
  }

  Services& services_;
  const Packaging& work_;
  packaging::Image& image_;
  Digest digest_;
  std::unique_ptr<registry::Repository> repository_;
  std::vector<registry::Referrer> there_{};
  std::optional<Cosign> cosign_{};
  std::set<std::string> signed_{};  ///< types of predicates that the key has signed already
  std::vector<Unsigned> unsigned_{};
  std::vector<Prepared> prepared_{};
};

}  // namespace

Provenance make_provenance(Services& services,
                           const Packaging& work,
                           const packaging::Image& image) {
  const auto& request = work.request();
  const auto& keys = work.plan().keys.value();
  Provenance provenance{.settings = published_settings(request),
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
    provenance.dockerfile = published_path(own->string(), request.project.directory);
  }
  if (const auto& templates = request.options.templates) {
    provenance.templates = published_path(templates->string(), request.project.directory);
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
