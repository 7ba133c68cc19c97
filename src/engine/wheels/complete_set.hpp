#pragma once

#include "engine/wheels/chosen_file.hpp"
#include "engine/wheels/package_index.hpp"
#include "lock/locked_set.hpp"
#include "python/interpreter.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace autopack::engine {

/// What `set` lacks by the metadata of its wheels, `files` in its order, in words; empty when it
/// lacks nothing. Of a set that is said to be complete those at hand are looked at, else all; where
/// the index tells the metadata of one that was chosen there just now, it is not fetched for that.
/// `offered` holds those by their places. `target` tells the interpreter, as far as a choice
/// depends on it, from others.
std::string missing_from(Services& services,
                         PackageIndex& index,
                         const lock::LockedSet& set,
                         const std::vector<ChosenFile>& files,
                         const std::map<std::size_t, index::Candidate>& offered,
                         const python::Interpreter& interpreter,
                         const std::string& target);

}  // namespace autopack::engine
