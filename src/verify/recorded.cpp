#include "verify/recorded.hpp"

#include "attest/bundle.hpp"
#include "attest/statement.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/signature.hpp"
#include "base/text.hpp"
#include "image/file_reference.hpp"
#include "image/manifest.hpp"
#include "image/reference.hpp"
#include "packaging/packaging.hpp"
#include "registry/client.hpp"
#include "registry/referrers.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

#include <string_view>

namespace autopack::verify {

namespace {

constexpr auto* revision_label = "org.opencontainers.image.revision";
constexpr auto* source_label = "org.opencontainers.image.source";
constexpr auto* dirty_label = "autopack.git.dirty";

std::optional<std::string> value_of(const std::map<std::string, std::string>& labels,
                                    const char* name) {
  const auto found = labels.find(name);
  return found == labels.end() || found->second.empty() ? std::nullopt
                                                        : std::optional{found->second};
}

}  // namespace

bool is_commit(std::string_view text) {
  constexpr std::size_t sha1_digits{40};
  constexpr std::size_t sha256_digits{64};
  return (text.size() == sha1_digits || text.size() == sha256_digits) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

namespace {

/// True if `name` names an image in a registry, not in files.
bool is_in_registry(const std::string& name) {
  return !image::names_files(name) && !image::Reference::fault(name) &&
         image::Reference::parse(name).names_registry();
}

/// So many documents of one kind are read; nobody attaches more.
constexpr std::size_t most_documents{200};

/// Returns the provenance in `referrer` if it is about `digest`.
std::optional<attest::Provenance> provenance_in(registry::Repository& repository,
                                                const registry::Referrer& referrer,
                                                const Digest& digest) {
  constexpr auto* what = "an attached document";
  const auto statement =
      attest::parse_statement(registry::read_attachment(repository, referrer), what);
  if (statement.predicate_type != attest::predicate_type::provenance ||
      !statement.is_about(digest)) {
    return std::nullopt;
  }
  return attest::provenance_of(statement, what);
}

}  // namespace

std::optional<attest::Provenance> attached_provenance(Services& services,
                                                      const std::string& name,
                                                      const Digest& digest) {
  if (!is_in_registry(name)) {
    return std::nullopt;
  }
  const auto reference = image::Reference::parse(name);
  try {
    const auto repository = open_repository(services, reference, registry::Access::pull);
    std::size_t read = 0;
    for (const auto& referrer : registry::find_referrers(*repository, digest)) {
      if (referrer.artifact_type != attest::statement_media_type || ++read > most_documents) {
        continue;
      }
      if (auto provenance = provenance_in(*repository, referrer, digest)) {
        return provenance;
      }
    }
  } catch (const Error& error) {
    services.reporter->warn(Problem::warning(
        {.message = fmt::format("the documents attached to `{}` cannot be used",
                                printable(reference.text)),
         .reason =
             join(error.causes().empty() ? std::vector{error.message()} : error.causes(), ": ")}));
  }
  return std::nullopt;
}

namespace {

/// Adds the statement in `referrer` to `documents` if `key` signed it.
void add_signed(registry::Repository& repository,
                const registry::Referrer& referrer,
                const PublicKey& key,
                const Digest& digest,
                SignedDocuments& documents) {
  constexpr auto* what = "an attached bundle";
  const auto bundle = attest::parse_bundle(registry::read_attachment(repository, referrer), what);
  const auto statement = attest::verified_statement(bundle, key, digest, what);
  if (!statement) {
    return;
  }
  documents.predicate_types.insert(statement->predicate_type);
  if (statement->predicate_type == attest::predicate_type::provenance) {
    documents.provenance = attest::provenance_of(*statement, what);
  }
}

}  // namespace

SignedDocuments signed_documents(Services& services,
                                 const std::string& name,
                                 const Digest& digest,
                                 const std::string& key_file) {
  const PublicKey key{read_file(key_file), key_file};
  if (!is_in_registry(name)) {
    throw Error(ErrorKind::usage,
                fmt::format("`--key` needs an image in a registry, and `{}` is not in one",
                            printable(name)))
        .cause("signatures are attached to images there");
  }
  SignedDocuments documents;
  const auto repository =
      open_repository(services, image::Reference::parse(name), registry::Access::pull);
  std::size_t read = 0;
  for (const auto& referrer : registry::find_referrers(*repository, digest)) {
    if (referrer.artifact_type != attest::bundle_media_type || ++read > most_documents) {
      continue;
    }
    try {
      add_signed(*repository, referrer, key, digest, documents);
    } catch (const Error& error) {
      // Anyone who can push there can attach something else; it must not hide what is signed.
      services.reporter->detail(fmt::format("an attached bundle cannot be used: {}", error.what()));
    }
  }
  if (documents.predicate_types.empty()) {
    throw Error(ErrorKind::remote, fmt::format("the key `{}` signed nothing about `{}`",
                                               printable(key_file), printable(name)))
        .hint("`autopack build --sign-key=KEY` signs an image; compare the digest, and the key");
  }
  return documents;
}

Recorded recorded_in(const image::Source& image) {
  const auto configuration = image::Configuration::parse(
      image.configuration, fmt::format("the configuration of `{}`", printable(image.name)));
  const auto labels = configuration.labels();
  if (!labels.contains(packaging::key_label) && !labels.contains(packaging::rebased_label)) {
    throw Error(ErrorKind::remote,
                fmt::format("`{}` does not say how it was made", printable(image.name)))
        .cause(fmt::format("it has no label `{}`: autopack did not make it", packaging::key_label))
        .hint("`autopack diff IMAGE` compares it with the files as they are");
  }
  Recorded recorded{.platform = configuration.platform(),
                    .base_name = value_of(labels, packaging::base_name_label),
                    .time = configuration.created(),
                    .rebased_from = value_of(labels, packaging::rebased_label)};
  if (const auto digest = value_of(labels, packaging::base_digest_label)) {
    recorded.base_digest = Digest::parse(*digest);
  }
  // Only --label-git writes this one; a base may have the others.
  if (labels.contains(dirty_label)) {
    for (const auto* name : {revision_label, source_label, dirty_label}) {
      if (const auto value = value_of(labels, name)) {
        recorded.labels[name] = *value;
      }
    }
    recorded.is_dirty = value_of(labels, dirty_label) != "false";
    const auto commit = value_of(labels, revision_label);
    recorded.commit = commit && is_commit(*commit) ? commit : std::nullopt;
  }
  for (const auto& step : configuration.layer_steps()) {
    if (step.starts_with("autopack: byte code of ")) {
      recorded.has_byte_code = true;
    }
  }
  return recorded;
}

}  // namespace autopack::verify
