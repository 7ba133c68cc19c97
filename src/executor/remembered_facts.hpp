#pragma once

#include "executor/notes/repository_notes.hpp"
#include "executor/python_facts.hpp"
#include "image/facts.hpp"
#include "image/reference.hpp"
#include "services/services.hpp"
#include "state/base_cache.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::executor {

/// The facts about an executor image in the notes of a repository, except those in its
/// configuration.
struct RememberedFacts {
  image::BaseFacts programs{};  ///< python, python_version, pip and apt only
  PythonFacts python{};
};

/// Returns a text for remembered_facts_from_json(). Returns nothing for an image that must not be
/// published: with pip settings, which may contain secrets, or an index with a login.
std::optional<std::string> remembered_text(const image::BaseFacts& base, const PythonFacts& python);

/// Returns nothing if `text` is damaged or has another format.
std::optional<RememberedFacts> remembered_facts_from_json(std::string_view text);

/// Returns the facts of the executor image `reference`, which must have a digest, from the notes of
/// the target repository, now or cached from the last time. Reads the image's own manifest and
/// configuration from its registry. Returns nothing if there is no note, or it does not match the
/// image.
std::optional<image::BaseFacts> remembered_base(Services& services,
                                                const image::Reference& reference,
                                                const std::string& platform);

/// Returns the cache of remembered_base(); nothing if the image of this run goes to no registry.
std::optional<state::BaseCache> remembered_bases(const Services& services);

/// Returns the facts of the Python of `base` from those notes; nothing if there are none.
std::optional<PythonFacts> remembered_python(Services& services, const image::BaseFacts& base);

/// Returns the files of its distributions from those notes; nothing if there are none.
std::optional<InstalledFiles> remembered_files(Services& services,
                                               const image::BaseFacts& base,
                                               const PythonFacts& facts);

/// Returns what this machine found out about `base` beyond `noted`; nothing about an image that it
/// knows only from notes.
News news_of(const Services& services, const image::BaseFacts& base, const Notes& noted);

}  // namespace autopack::executor
