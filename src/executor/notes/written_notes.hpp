#pragma once

#include "executor/notes/repository_notes.hpp"

#include <cstddef>
#include <string>

namespace autopack {

/// Where to write facts that were not read: about one executor image, in one repository.
struct NotesTarget {
  registry::Repository& repository;
  const state::BlobCache& blobs;
  const Digest& executor;
  const std::string& platform;
};

enum class OldNotes {
  corrected,  ///< remembered facts with other keys stay
  replaced,   ///< no remembered fact stays
};

/// Writes the facts that `find` returns for empty remembered facts; all its layers were made from
/// their wheels. Returns how many of these layers the remembered facts described differently. If
/// the repository refuses them, that causes a detail line and no error.
std::size_t write_notes(Reporter& reporter,
                        const NotesTarget& target,
                        const RepositoryNotes::FindNews& find,
                        OldNotes old);

}  // namespace autopack
