#include "gpu/fit.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

// Source of the rules: NVIDIA's CUDA programming guide, "Binary compatibility", "PTX compatibility"
// and "Feature sets".
namespace autopack::gpu {

namespace {

bool same_major(const Architecture& architecture, Capability gpu) {
  const auto made_for = architecture.capability();
  return made_for.major == gpu.major && made_for.minor <= gpu.minor;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// A package, and the beginnings of the names of the libraries that it launches kernels from.
struct Judged {
  std::string_view name;
  std::string_view library;
};

/// A torch has further libraries for some GPUs alone, and old ones contain a copy of cuDNN.
constexpr std::array judged{
    Judged{.name = "torch", .library = "libtorch_cuda"},
    Judged{.name = "nvidia-cudnn", .library = "libcudnn"},
    Judged{.name = "nvidia-cublas", .library = "libcublas"},
    Judged{.name = "nvidia-nccl", .library = "libnccl"},
};

/// Matches `nvidia-cudnn` and `nvidia-cudnn-cu12`.
bool is_package(std::string_view name, std::string_view wanted) {
  return name == wanted || (name.starts_with(wanted) && name.substr(wanted.size(), 3) == "-cu");
}

/// Returns whether a failure of the library is one of the package. A job may never start code of
/// NVIDIA's other packages: torch requires some that no older GPU can use.
bool decides(const Package& package, const Library& library) {
  if (library.code.code.empty()) {
    return false;
  }
  const auto* const rule = std::ranges::find_if(
      judged, [&](const Judged& one) { return is_package(package.name, one.name); });
  if (rule == judged.end()) {
    return !package.name.empty() && package.name != "nvidia" &&
           !package.name.starts_with("nvidia-");
  }
  return file_name(library.path).starts_with(rule->library);
}

}  // namespace

bool runs_on(const Code& code, Capability gpu) {
  const auto& made_for = code.architecture;
  switch (made_for.variant) {
    case Architecture::Variant::specific: return made_for.capability() == gpu;
    case Architecture::Variant::family: return same_major(made_for, gpu);
    case Architecture::Variant::plain: break;
  }
  return code.kind == CodeKind::ptx ? made_for.capability() <= gpu : same_major(made_for, gpu);
}

Fit fit_of(const LibraryCode& library, Capability gpu) {
  auto best = library.is_damaged || library.code.empty() ? Fit::unknown : Fit::fails;
  for (const auto& code : library.code) {
    if (runs_on(code, gpu)) {
      if (code.kind == CodeKind::cubin) {
        return Fit::runs;
      }
      best = Fit::compiles;
    }
  }
  return best;
}

PackageFit fit_of(const Package& package, Capability gpu) {
  PackageFit result;
  std::vector<std::pair<const Library*, Fit>> fits;
  bool is_uncertain = false;
  for (const auto& library : package.libraries) {
    if (decides(package, library)) {
      fits.emplace_back(&library, fit_of(library.code, gpu));
    }
    is_uncertain = is_uncertain || library.code.is_damaged;
  }
  for (const auto& [library, fit] : fits) {
    result.fit = std::max(result.fit, fit);
  }
  if (result.fit == Fit::fails && is_uncertain) {
    result.fit = Fit::unknown;
  }
  for (const auto& [library, fit] : fits) {
    if (fit == result.fit) {
      result.libraries.push_back(library);
    } else if (fit == Fit::fails) {
      result.failing.push_back(library);
    }
  }
  return result;
}

std::vector<std::string> architectures_of(const LibraryCode& library, CodeKind kind) {
  std::vector<std::string> names;
  for (const auto& code : library.code) {
    if (code.kind == kind) {
      names.push_back(code.architecture.str());
    }
  }
  return names;
}

std::string architectures_of(const LibraryCode& library) {
  const auto machine_code = join(architectures_of(library, CodeKind::cubin), " ");
  const auto ptx = join(architectures_of(library, CodeKind::ptx), " ");
  return machine_code + (machine_code.empty() || ptx.empty() ? "" : ", ") +
         (ptx.empty() ? "" : "PTX " + ptx);
}

std::string_view to_string(Fit fit) {
  switch (fit) {
    case Fit::runs: return "runs";
    case Fit::compiles: return "compiles";
    case Fit::fails: return "fails";
    case Fit::unknown: break;
  }
  return "unknown";
}

}  // namespace autopack::gpu
