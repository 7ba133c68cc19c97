#pragma once

#include <cstddef>
#include <cstdint>

/// The format of the facts that a repository remembers. These are also limits: the writer keeps no
/// more, and the reader refuses larger ones.
namespace autopack::facts_format {

/// Increase this if the meaning changes: facts of older versions are then ignored.
inline constexpr int version{1};

inline constexpr std::size_t most_layers{400};
inline constexpr std::size_t most_texts{400};
inline constexpr std::uint64_t largest_index{std::uint64_t{4} << 20U};
inline constexpr std::uint64_t largest_packed_text{std::uint64_t{4} << 20U};
inline constexpr std::size_t largest_remembered_text{std::size_t{32} << 20U};
inline constexpr std::size_t longest_key{200};
/// Lists share a blob up to this size in bytes: each blob costs a repository two requests.
inline constexpr std::size_t largest_gathered{std::size_t{1} << 20U};

inline constexpr auto* index_type = "application/vnd.autopack.notes.v1+json";
inline constexpr auto* text_type = "application/vnd.autopack.note.v1+gzip";
/// A JSON object of texts by key.
inline constexpr auto* lists_type = "application/vnd.autopack.lists.v1+gzip";
/// The keys of a blob, separated by blanks.
inline constexpr auto* keys_annotation = "autopack.note";

}  // namespace autopack::facts_format
