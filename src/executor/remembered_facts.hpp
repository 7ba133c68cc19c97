#pragma once

#include "executor/record_cache.hpp"
#include "executor/remembered/repository_facts.hpp"
#include "image/facts.hpp"
#include "image/reference.hpp"
#include "services/services.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::executor {

/// Returns a text for remembered_facts_from_json(). Returns nothing for an image that must not be
/// published: with pip settings, which may contain secrets, or an index with a login.
std::optional<std::string> remembered_text(const image::BaseFacts& base, const PythonFacts& python);

/// Returns a record without the files, and without the facts in the image's configuration. Returns
/// nothing if `text` is damaged or has another format.
std::optional<Record> remembered_facts_from_json(std::string_view text);

/// Returns the record of the executor image `reference`, which must have a digest, that the target
/// repository remembers, without the files. Reads the image's own manifest and configuration from
/// its registry. Returns nothing if the repository remembers none, or it does not match the image.
std::optional<Record> find_remembered(Services& services,
                                      const image::Reference& reference,
                                      const std::string& platform);

/// Returns the facts of the Python of `base` that the target repository remembers, now or cached
/// from the last time; nothing if there are none.
std::optional<PythonFacts> remembered_python(Services& services, const image::BaseFacts& base);

/// Returns the files of the distributions in remembered_python(); nothing if there are none.
std::optional<InstalledFiles> remembered_files(Services& services, const image::BaseFacts& base);

/// Returns the facts of this machine about `base` that `remembered` lacks; nothing about an image
/// that it knows only from a repository.
NewFacts new_facts_of(const Services& services,
                      const image::BaseFacts& base,
                      const RememberedFacts& remembered);

}  // namespace autopack::executor
