#include "preflight/rows.hpp"

#include <array>

namespace autopack::preflight {

namespace {

constexpr std::array table{
    Row{1, "exec format error", Finder::request, "architecture"},
    Row{2, "unauthenticated push", Finder::request, "registry-login"},
    Row{3, "repository not found", Finder::request, "repository"},
    Row{4, "missing image name", Finder::table, "image-name"},
    Row{5, "uploadArtifacts denied", Finder::request, "upload-permission"},
    Row{6, "service agent may not read the image", Finder::request, "image-reader"},
    Row{7, "image does not exist", Finder::request, "image"},
    Row{8, "no permission to act as the service account", Finder::request, "act-as"},
    Row{9, "quota exceeded", Finder::request, "quota"},
    Row{10, "accelerator does not go with the machine", Finder::rule, "job/rules_machine.cpp"},
    Row{11, "accelerator half given", Finder::rule, "job/rules_machine.cpp"},
    Row{12, "accelerators not supported for the project", Finder::request, "quota"},
    Row{13, "command not found", Finder::table, "command"},
    Row{14, "python not found", Finder::rule, "plan/make_plan.cpp"},
    Row{15, "module not found", Finder::rule, "plan/import_advice.cpp"},
    Row{16, "shared memory too small", Finder::rule, "plan/data_workers.cpp"},
    Row{17, "consumer invalid", Finder::request, "project"},
    Row{18, "token scope insufficient inside the job", Finder::hindsight,
        "what the program asks for is not known; submit/vertex_hints.cpp names the remedy"},
    Row{19, "task inputs cannot be parsed", Finder::rule, "job/config_reader.cpp"},
    Row{20, "output directory given as text", Finder::rule, "job/config_reader.cpp"},
    Row{21, "resources insufficient in the region", Finder::hindsight,
        "no API tells a region's stock; submit/vertex_hints.cpp names the remedy"},
    Row{22, "no engine", Finder::request, "engine"},
    Row{23, "no logs at all", Finder::request, "logs"},
    Row{24, "bucket cannot be read", Finder::request, "bucket"},
    Row{25, "machine type not supported", Finder::rule, "job/rules_machine.cpp"},
    Row{26, "context huge, with secrets", Finder::rule, "plan/advice.cpp"},
    Row{27, "no space on the boot disk", Finder::request, "boot-disk"},
    Row{28, "token expires during the push", Finder::request, "credentials"},
    Row{29, "tag cannot be overwritten", Finder::request, "tag"},
    Row{30, "API off", Finder::request, "api"},
    Row{31, "proxy unknown to the daemon", Finder::request, "proxy"},
    Row{32, "empty pool refused, snake_case forwarded", Finder::rule, "job/config_reader.cpp"},
};

}  // namespace

std::span<const Row> rows() {
  return table;
}

}  // namespace autopack::preflight
