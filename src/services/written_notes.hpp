#pragma once

#include "services/repository_notes.hpp"

#include <cstddef>
#include <string>

namespace autopack {

/// Where notes go that were not read: of one executor image, in one repository.
struct NotesTarget {
  registry::Repository& repository;
  const state::BlobCache& blobs;
  const Digest& executor;
  const std::string& platform;
};

enum class OldNotes {
  corrected,  ///< what is noted under other keys stays
  replaced,   ///< nothing that is noted stays
};

/// Writes the news that `find` gives when nothing is noted; all its layers were made from their
/// wheels. Returns how many of these layers the notes described otherwise before. A repository that
/// takes no notes costs a detail line and no error.
std::size_t write_notes(Reporter& reporter,
                        const NotesTarget& target,
                        const RepositoryNotes::FindNews& find,
                        OldNotes old);

}  // namespace autopack
