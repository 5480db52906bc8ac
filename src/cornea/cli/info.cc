// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <thread>

#include "cornea/catalog/detectors.h"
#include "cornea/cli/common.h"
#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/match/match_kernels.h"

namespace cornea::cli {
namespace {

Json device_json(const DeviceInfo& d) {
  return {{"device", text("cuda:", d.index)},
          {"name", d.name},
          {"compute_capability", text(d.major, ".", d.minor)},
          {"multiprocessors", d.multiprocessors},
          {"memory_bytes", d.memory_bytes},
          {"l2_bytes", d.l2_bytes}};
}

int run_info(const CommonOptions& common) {
  common.context();  // a requested device that does not exist is an error
  std::string why_no_cuda;
  const auto devices = cuda_devices(&why_no_cuda);
  Json json = {{"version", kVersion},
               {"compiler", kCompiler},
               {"build_type", kBuildType},
               {"cuda", kHasCuda ? Json(kCudaVersion) : Json(nullptr)},
               {"cuda_architectures", kHasCuda ? Json(kCudaArchitectures) : Json(nullptr)},
               {"tiff", kHasTiff},
               {"webp", kHasWebp},
               {"sqlite", kHasSqlite},
               {"cpu_threads", common.context().threads()},
               {"match_kernels", match::match_kernels()},
               {"devices", Json::array()},
               {"detectors", Json::array()}};
  for (const DeviceInfo& d : devices) json["devices"].push_back(device_json(d));
  for (const DetectorEntry& entry : detector_table()) json["detectors"].push_back(entry.name);
  common.write_json(json);
  if (!common.talks()) return 0;

  auto with = [](bool in) { return in ? "yes" : "no"; };
  std::cout << "Cornea " << kVersion << " (" << kCompiler << ", " << kBuildType << ")\n\n";
  std::vector<std::vector<std::string>> rows = {
      {"CUDA", kHasCuda ? text("toolkit ", kCudaVersion, ", for ", kCudaArchitectures) : "no"},
      {"TIFF files", with(kHasTiff)},
      {"WebP files", with(kHasWebp)},
      {"SQLite", kHasSqlite ? "yes" : "no (COLMAP databases need it)"},
      {"CPU threads", text(common.context().threads())}};
  std::string kernels;
  for (const std::string& name : match::match_kernels())
    kernels += (kernels.empty() ? "" : ", ") + name;
  rows.push_back({"Matching", kernels});
  for (const auto& row : rows) std::printf("%-12s %s\n", row[0].c_str(), row[1].c_str());
  std::cout << "\nDevices\n  cpu\n";
  for (const DeviceInfo& d : devices) {
    std::cout << "  cuda:" << d.index << "  " << d.name << ", compute capability " << d.major << "."
              << d.minor << ", " << d.multiprocessors << " multiprocessors, "
              << (d.memory_bytes >> 20) << " MiB\n";
  }
  if (devices.empty()) std::cout << "  no CUDA device: " << why_no_cuda << "\n";
  std::cout << "\nDetectors\n";
  for (const DetectorEntry& entry : detector_table()) {
    std::printf("  %-10s %s (%s)\n", entry.name.c_str(), entry.summary.c_str(),
                entry.source.c_str());
  }
  std::cout << std::flush;
  return 0;
}

}  // namespace

Run add_info(CLI::App& app) {
  auto common = std::make_shared<CommonOptions>();
  CLI::App* command =
      app.add_subcommand("info", "show what this build contains and which devices it finds");
  add_common_options(*command, *common);
  return [common] { return run_info(*common); };
}

}  // namespace cornea::cli
