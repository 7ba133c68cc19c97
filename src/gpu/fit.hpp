#pragma once

#include "gpu/architecture.hpp"
#include "gpu/library_code.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::gpu {

/// Returns the compute capability of an accelerator of Vertex AI, such as `NVIDIA_L4`; nothing for
/// one that is no GPU, or unknown.
std::optional<Capability> capability_of(std::string_view accelerator);

/// Returns the accelerators whose capability is known, in the order of their capabilities.
std::vector<std::string> known_accelerators();

/// An accelerator that a program gets.
struct Device {
  std::string name{};                      ///< `NVIDIA_L4`, `TPU v6e`
  std::optional<Capability> capability{};  ///< absent for a TPU

  bool operator==(const Device&) const = default;
};

/// How GPU code fits a GPU.
enum class Fit {
  unknown,   ///< the code is damaged, or there is none
  fails,     ///< none of it runs there
  compiles,  ///< only PTX fits: the driver compiles it at the first start, for minutes
  runs,
};

/// Returns whether `code` can run on a GPU.
bool runs_on(const Code& code, Capability gpu);

/// Returns how the best code of `library` fits a GPU.
Fit fit_of(const LibraryCode& library, Capability gpu);

/// A wheel, or a distribution in an image.
struct Package {
  std::string name{};     ///< normalised
  std::string version{};  ///< empty: unknown
  std::vector<Library> libraries{};
};

/// How a package fits a GPU.
struct PackageFit {
  Fit fit{Fit::unknown};
  /// The libraries that decided it: those that fail, or of which only PTX fits; otherwise all that
  /// were judged.
  std::vector<const Library*> libraries{};
  /// Libraries of a package that runs which do not run there themselves.
  std::vector<const Library*> failing{};
};

/// Judges a package by the libraries that it launches kernels from. One that fits suffices, because
/// packages choose between libraries for several GPUs or versions of CUDA when they start.
PackageFit fit_of(const Package& package, Capability gpu);

/// Returns the architectures of `library` in words: `75 80 90a, PTX 90`.
std::string architectures_of(const LibraryCode& library);

/// Returns the architectures of one kind of code: `75`, `90a`.
std::vector<std::string> architectures_of(const LibraryCode& library, CodeKind kind);

/// Returns `runs`, `compiles`, `fails` or `unknown`.
std::string_view to_string(Fit fit);

}  // namespace autopack::gpu
