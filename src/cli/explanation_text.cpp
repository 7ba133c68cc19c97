#include "cli/explanation_text.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

namespace autopack::cli {

namespace {

using pipeline::ExpectedUpload;
using pipeline::ExplainedLayer;
using pipeline::ExplainedPackage;
using pipeline::Explanation;
using pipeline::Kept;
using pipeline::LeftOut;

constexpr std::size_t most_lines{24};  // of the tree
constexpr std::size_t most_lines_of_all{400};
constexpr std::size_t most_rules{12};
constexpr std::size_t most_inputs{6};
constexpr std::size_t most_packages{8};
constexpr std::size_t most_depth{4};

std::string files_text(std::size_t files) {
  return fmt::format("{} file{}", files, files == 1 ? "" : "s");
}

/// Lines `title  text`; the title is only on the first.
class Table {
public:
  void row(const std::string& title, const std::string& text) {
    text_ += fmt::format("{:<10} {}\n", title == last_ ? "" : title, printable(text));
    last_ = title;
  }

  const std::string& text() const { return text_; }

private:
  std::string text_;
  std::string last_;
};

/// A directory or file with its total size.
struct Node {
  std::uint64_t size{0};
  std::size_t files{0};
  bool is_directory{true};
  std::map<std::string, Node, std::less<>> children{};
};

void add_entry(Node& root, const plan::ContextEntry& entry) {
  const bool is_directory = entry.type == source::EntryType::directory;
  Node* node = &root;
  std::string_view rest{entry.path};
  for (std::size_t depth = 0; depth <= most_depth; ++depth) {
    node->size += entry.size;
    node->files += is_directory ? 0 : 1;
    if (rest.empty() || depth == most_depth) {
      break;
    }
    const auto slash = std::min(rest.find('/'), rest.size());
    const auto name = rest.substr(0, slash);
    auto& children = node->children;
    // Paths are sorted, so a new name mostly is the last.
    const bool is_last = children.empty() || children.rbegin()->first < name;
    auto found = is_last ? children.end() : children.find(name);
    if (found == children.end()) {
      found = children.emplace_hint(found, std::string{name}, Node{});
    }
    node = &found->second;
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    node->is_directory = !rest.empty() || is_directory;
  }
}

/// Prints children by size, largest first; summarizes the small ones at the end.
void report_node(const Node& node, std::size_t depth, std::size_t room, std::string& text) {
  std::vector<const std::pair<const std::string, Node>*> children;
  for (const auto& child : node.children) {
    children.push_back(&child);
  }
  std::ranges::stable_sort(
      children, [](const auto* a, const auto* b) { return a->second.size > b->second.size; });
  const std::size_t shown =
      children.size() > room ? std::max<std::size_t>(room, 2) - 1 : children.size();
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [name, child] = *children[i];
    const std::string counted =
        child.is_directory ? fmt::format("/  {}", files_text(child.files)) : std::string{};
    text += fmt::format("{:>9}  {:{}}{}{}\n", human_size(child.size), "", 2 * depth,
                        printable(name), counted);
    const bool is_heavy = child.size * 10 >= node.size;
    if (child.is_directory && is_heavy && depth + 1 < most_depth) {
      report_node(child, depth + 1, std::max<std::size_t>(room / 2, 3), text);
    }
  }
  if (shown < children.size()) {
    std::uint64_t size = 0;
    for (std::size_t i = shown; i < children.size(); ++i) {
      size += children[i]->second.size;
    }
    text += fmt::format("{:>9}  {:{}}and {} more\n", human_size(size), "", 2 * depth,
                        children.size() - shown);
  }
}

std::string tree_text(const plan::Plan& plan, Detail detail) {
  Node root;
  for (const auto& entry : plan.code) {
    add_entry(root, entry);
  }
  std::string text =
      fmt::format("\nGoes in: {}, {}\n", files_text(root.files), human_size(root.size));
  report_node(root, 0, (detail == Detail::brief ? most_lines : most_lines_of_all) / 2, text);
  return text;
}

std::string rule_text(const LeftOut& left) {
  if (left.line) {
    return fmt::format("{}:{} {}", left.file, *left.line, left.rule);
  }
  return left.file == source::defaults_name ? "default " + left.rule : left.rule;
}

std::string least_size(std::uint64_t size, bool is_least) {
  return (is_least ? ">" : "") + human_size(size);
}

std::string paths_text(const LeftOut& left) {
  std::string paths = left.paths.front().path;
  std::size_t reported = 1;
  for (; reported < std::min<std::size_t>(left.paths.size(), 3) &&
         paths.size() + left.paths[reported].path.size() < 30;
       ++reported) {
    paths += ", " + left.paths[reported].path;
  }
  return reported < left.count ? paths + fmt::format(" and {} more", left.count - reported) : paths;
}

std::string left_out_text(const std::vector<LeftOut>& all, Detail detail) {
  if (all.empty()) {
    return {};
  }
  std::string text = "\nLeft out\n";
  const bool is_brief = detail == Detail::brief;
  const std::size_t shown = is_brief ? std::min(all.size(), most_rules) : all.size();
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& left = all[i];
    text += fmt::format("{:>9}  {:<28}  {}\n", least_size(left.size, left.is_least),
                        printable(rule_text(left)),
                        is_brief ? printable(paths_text(left)) : std::string{});
    for (std::size_t one = 0; !is_brief && one < left.paths.size(); ++one) {
      const auto& path = left.paths[one];
      text +=
          fmt::format("{:>9}    {}\n", least_size(path.size, path.is_least), printable(path.path));
    }
    if (!is_brief && left.paths.size() < left.count) {
      text += fmt::format("{:>9}    and {} more\n", "", left.count - left.paths.size());
    }
  }
  if (shown < all.size()) {
    text += fmt::format("           and more by {} further rules, which `-v` prints\n",
                        all.size() - shown);
  }
  return text;
}

std::string kept_text(const std::vector<Kept>& kept, Detail detail) {
  std::string text;
  const std::size_t shown =
      detail == Detail::brief ? std::min(kept.size(), most_rules) : kept.size();
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("  {:<30} {}\n", printable(kept[i].path), printable(kept[i].why));
  }
  if (shown < kept.size()) {
    text += fmt::format("  and {} more, which `-v` prints\n", kept.size() - shown);
  }
  return text.empty() ? text : "\nGoes in although git ignores it\n" + text;
}

/// Returns `  for requirements.txt:3` or `  for pandas, scipy and 2 more`; empty if nobody knows.
std::string requirers_text(const ExplainedPackage& package, Detail detail) {
  constexpr std::size_t most_names{3};
  const auto& origin = package.origin;
  const auto& names = package.required_by;
  if (origin && !origin->empty()) {
    return "  for " + printable(*origin);
  }
  if (names.empty()) {
    return origin ? "  for other packages" : "";
  }
  const auto shown = detail == Detail::brief ? std::min(names.size(), most_names) : names.size();
  auto text = "  for " + printable(join(std::span{names}.first(shown), ", "));
  return shown < names.size() ? text + fmt::format(" and {} more", names.size() - shown) : text;
}

std::string packages_text(const std::vector<ExplainedPackage>& packages, Detail detail) {
  if (packages.empty()) {
    return {};
  }
  std::uint64_t size = 0;
  std::size_t widest = 0;
  const std::size_t shown =
      detail == Detail::brief ? std::min(packages.size(), most_packages) : packages.size();
  for (std::size_t i = 0; i < packages.size(); ++i) {
    size += packages[i].size;
    widest = i < shown ? std::max(widest, packages[i].name.size() + packages[i].version.size() + 1)
                       : widest;
  }
  std::string text = fmt::format("\nPackages: {}, {}\n", packages.size(), human_size(size));
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& package = packages[i];
    const auto title = printable(fmt::format("{} {}", package.name, package.version));
    const auto from = package.host.empty() ? "" : "  from " + printable(package.host);
    text += fmt::format("{:>9}  {:<{}}{}{}\n", human_size(package.size), title, widest,
                        requirers_text(package, detail), from);
  }
  if (shown < packages.size()) {
    text += fmt::format("           and {} more, which `-v` prints\n", packages.size() - shown);
  }
  return text;
}

/// Returns `  fails on NVIDIA_L4`; empty if it runs on all.
std::string fits_text(const pipeline::ExplainedLibrary& row,
                      const std::vector<gpu::Device>& devices) {
  std::string text;
  for (std::size_t i = 0; i < row.fits.size(); ++i) {
    if (row.fits[i] == gpu::Fit::fails) {
      text += "  does not run on " + printable(devices[i].name);
    } else if (row.fits[i] == gpu::Fit::compiles) {
      text += "  is compiled on " + printable(devices[i].name);
    }
  }
  return text;
}

std::string gpu_text(const pipeline::ExplainedGpu& gpu, Detail detail) {
  if (gpu.libraries.empty()) {
    return {};
  }
  const std::size_t shown = detail == Detail::brief ? std::min(gpu.libraries.size(), most_packages)
                                                    : gpu.libraries.size();
  std::uint64_t size = 0;
  std::uint64_t unused = 0;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < gpu.libraries.size(); ++i) {
    const auto& row = gpu.libraries[i];
    for (const auto& code : row.library.code.code) {
      size += code.bytes;
    }
    unused += row.unused_bytes;
    widest = i < shown ? std::max(widest, printable(row.library.path).size()) : widest;
  }
  std::string text = fmt::format(
      "\nGPU code: {} librar{}, {}{}\n", gpu.libraries.size(),
      gpu.libraries.size() == 1 ? "y" : "ies", human_size(size),
      gpu.devices.empty() ? "" : fmt::format("; {} of it for other GPUs", human_size(unused)));
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = gpu.libraries[i];
    text += fmt::format(
        "{:>9}  {:<{}}  {}{}\n", human_size(row.library.size), printable(row.library.path), widest,
        row.library.code.is_damaged ? "damaged" : gpu::architectures_of(row.library.code),
        fits_text(row, gpu.devices));
  }
  if (shown < gpu.libraries.size()) {
    text +=
        fmt::format("           and {} more, which `-v` prints\n", gpu.libraries.size() - shown);
  }
  return text;
}

std::string upload_word(const ExplainedLayer& layer) {
  return !layer.upload ? "unknown" : *layer.upload ? "yes" : "no";
}

std::string layers_text(const Explanation& explanation) {
  std::string text = "\nLayers      upload   digest\n";
  for (const auto& layer : explanation.layers) {
    const bool is_sized = layer.size > 0 || layer.digest;
    const bool is_base = layer.name.starts_with("base ");
    const bool is_reused = layer.name.starts_with("dependencies ") && explanation.dependencies &&
                           explanation.dependencies->reused;
    const std::string digest = layer.digest ? layer.digest->str().substr(0, 19)
                               : is_base    ? "not known"
                               : is_reused  ? "reused"
                                            : "not made yet";
    text += fmt::format("{:>9}  {:<8} {:<20} {}{}\n",
                        is_sized && layer.count > 0 ? human_size(layer.size) : "?",
                        upload_word(layer), digest, printable(layer.name),
                        is_base && layer.count > 0
                            ? fmt::format(", {} layer{}", layer.count, layer.count == 1 ? "" : "s")
                            : "");
  }
  return text;
}

std::string upload_text(const ExpectedUpload& upload) {
  if (!upload.destination) {
    return "nothing: the image stays in the docker engine";
  }
  if (upload.unknown) {
    return fmt::format("unknown: {} does not say: {}", *upload.destination, *upload.unknown);
  }
  if (upload.image_is_there) {
    return "nothing: the registry has the image";
  }
  return fmt::format("{}{} to {}", upload.exact ? "about " : "more than ", human_size(upload.bytes),
                     *upload.destination);
}

/// Lists the files that pip reads, or their number if they are many.
void report_read(Table& table, const plan::Dependencies& dependencies, Detail detail) {
  std::vector<const plan::ContextEntry*> files;
  std::uint64_t size = 0;
  for (const auto& input : dependencies.inputs) {
    if (input.type != source::EntryType::directory) {
      files.push_back(&input);
      size += input.size;
    }
  }
  if (detail == Detail::brief && files.size() > most_inputs) {
    table.row("reads", fmt::format("{}, {}", files_text(files.size()), human_size(size)));
    return;
  }
  for (const auto* file : files) {
    table.row("reads", fmt::format("{} ({})", file->path, human_size(file->size)));
  }
}

void report_installed(Table& table, const plan::Dependencies& dependencies) {
  if (dependencies.empty()) {
    table.row("installs", "nothing");
  }
  for (const auto& name : dependencies.apt_packages) {
    table.row("installs", name + " (apt)");
  }
  if (dependencies.lock) {
    table.row("installs", "what " + dependencies.lock->file + " chooses");
  }
  for (const auto& file : dependencies.requirement_files) {
    table.row("installs", "what " + file + " names");
  }
  for (const auto* list : {&dependencies.requirements, &dependencies.package_requirements,
                           &dependencies.build_requirements, &dependencies.packages}) {
    for (const auto& one : *list) {
      table.row("installs", one);
    }
  }
  if (dependencies.install) {
    const auto version =
        dependencies.version ? fmt::format(" as version {}", printable(*dependencies.version)) : "";
    table.row("installs",
              fmt::format("{}{}{}",
                          dependencies.installs_root
                              ? "the project itself"
                              : "packages of the workspace, " + join(dependencies.members, ", "),
                          version, dependencies.resolves ? ", and what it needs" : ""));
  }
}

std::string outcomes_text(const Explanation& explanation, const plan::Plan& plan) {
  Table table;
  if (explanation.dependencies) {
    table.row("installed", to_text(*explanation.dependencies));
  }
  if (explanation.installer) {
    table.row("how", printable(explanation.installer->text));
  }
  table.row("image", to_text(explanation.image));
  table.row("upload", upload_text(explanation.upload));
  table.row("engine", explanation.engine_why ? explanation.engine + ": " + *explanation.engine_why
                                             : explanation.engine);
  if (explanation.cloud_build) {
    table.row("cloud build", explanation.cloud_build->text());
  }
  const auto& keys = plan.keys.value();
  table.row("keys", fmt::format("apd-{}, {}", keys.dependencies.substr(0, 16),
                                packaging::key_tag(keys.image)));
  return "\n" + table.text();
}

}  // namespace

std::string explanation_text(const Explanation& explanation,
                             const plan::Plan& plan,
                             Detail detail) {
  Table table;
  if (plan.user_dockerfile) {
    table.row("builds", *plan.user_dockerfile);
  } else {
    table.row("runs", join(plan.entrypoint, " ") +
                          (plan.notebook ? fmt::format(" (made from {})", printable(*plan.notebook))
                                         : std::string{}));
    table.row("base", plan.base.reference);
  }
  table.row("platform", plan.platform);
  report_installed(table, plan.dependencies);
  report_read(table, plan.dependencies, detail);
  return table.text() + tree_text(plan, detail) + kept_text(explanation.kept, detail) +
         left_out_text(explanation.left_out, detail) + packages_text(explanation.packages, detail) +
         gpu_text(explanation.gpu, detail) + layers_text(explanation) +
         outcomes_text(explanation, plan);
}

namespace {

nlohmann::json gpu_json(const pipeline::ExplainedGpu& gpu) {
  auto devices = nlohmann::json::array();
  for (const auto& device : gpu.devices) {
    devices.push_back({{"name", printable(device.name)}, {"capability", device.capability->str()}});
  }
  auto libraries = nlohmann::json::array();
  for (const auto& row : gpu.libraries) {
    const auto& code = row.library.code;
    auto fits = nlohmann::json::array();
    for (const auto fit : row.fits) {
      fits.push_back(gpu::to_string(fit));
    }
    libraries.push_back({{"library", printable(row.library.path)},
                         {"package", printable(row.package)},
                         {"version", printable(row.version)},
                         {"of", row.is_of_executor ? "executor image" : "wheel"},
                         {"size", row.library.size},
                         {"architectures", gpu::architectures_of(code, gpu::CodeKind::cubin)},
                         {"ptx", gpu::architectures_of(code, gpu::CodeKind::ptx)},
                         {"cuda", code.cuda ? nlohmann::json(*code.cuda) : nlohmann::json{}},
                         {"fits", std::move(fits)},
                         {"unused_bytes", row.unused_bytes}});
  }
  return {{"accelerators", std::move(devices)},
          {"libraries", std::move(libraries)},
          {"unread", gpu.unread},
          {"executor_image_is_read", !gpu.is_executor_unread}};
}

}  // namespace

nlohmann::json explanation_json(const Explanation& explanation) {
  auto layers = nlohmann::json::array();
  for (const auto& layer : explanation.layers) {
    layers.push_back(
        {{"name", printable(layer.name)},
         {"digest", layer.digest ? nlohmann::json(layer.digest->str()) : nlohmann::json{}},
         {"size", layer.size},
         {"layers", layer.count},
         {"upload", layer.upload ? nlohmann::json(*layer.upload) : nlohmann::json{}}});
  }
  auto left_out = nlohmann::json::array();
  for (const auto& left : explanation.left_out) {
    auto paths = nlohmann::json::array();
    for (const auto& path : left.paths) {
      paths.push_back(printable(path.path));
    }
    left_out.push_back({{"rule", printable(left.rule)},
                        {"file", printable(left.file)},
                        {"line", left.line.value_or(0)},
                        {"count", left.count},
                        {"size", left.size},
                        {"exact", !left.is_least},
                        {"paths", std::move(paths)}});
  }
  auto kept = nlohmann::json::array();
  for (const auto& one : explanation.kept) {
    kept.push_back({{"path", printable(one.path)}, {"why", printable(one.why)}});
  }
  auto packages = nlohmann::json::array();
  for (const auto& one : explanation.packages) {
    packages.push_back(
        {{"name", printable(one.name)},
         {"version", printable(one.version)},
         {"required_by", one.required_by},
         {"size", one.size},
         {"host", printable(one.host)},
         {"origin", one.origin ? nlohmann::json(printable(*one.origin)) : nlohmann::json{}}});
  }
  const auto outcome = [](const packaging::Outcome& one) {
    return nlohmann::json{{"reused", one.reused}, {"reason", printable(one.reason)}};
  };
  const auto& upload = explanation.upload;
  const auto installer = explanation.installer.value_or(pipeline::Installer{});
  nlohmann::json result{
      {"layers", std::move(layers)},
      {"left_out", std::move(left_out)},
      {"kept", std::move(kept)},
      {"upload",
       {{"destination", upload.destination.value_or("")},
        {"unknown", printable(upload.unknown.value_or(""))},
        {"bytes", upload.bytes},
        {"exact", upload.exact}}},
      {"rebuild",
       {{"image", outcome(explanation.image)},
        {"dependencies",
         explanation.dependencies ? outcome(*explanation.dependencies) : nlohmann::json{}}}},
      {"packages", std::move(packages)},
      {"gpu", gpu_json(explanation.gpu)},
      {"installer", {{"name", installer.name}, {"text", printable(installer.text)}}},
      {"engine",
       {{"name", explanation.engine}, {"why", printable(explanation.engine_why.value_or(""))}}}};
  if (const auto& cloud = explanation.cloud_build) {
    result["cloud_build"] = {{"why", printable(cloud->why)},
                             {"project", printable(cloud->project)},
                             {"region", printable(cloud->region)},
                             {"bucket", cloud->bucket},
                             {"files", cloud->files}};
  }
  return result;
}

}  // namespace autopack::cli
