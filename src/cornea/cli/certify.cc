// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cornea/cli/common.h"
#include "cornea/core/build.h"
#include "cornea/core/digits.h"
#include "cornea/pipeline/certificate.h"

namespace cornea::cli {
namespace {

int run_certify(const CommonOptions& common) {
  const Context context = common.context();
  const std::vector<CertificateRow> rows = certify(context);
  int different = 0;
  Json json = {{"version", kVersion},
               {"compiler", kCompiler},
               {"device", context.name()},
               {"rows", Json::array()}};
  std::vector<std::vector<std::string>> table = {{"", "", "hash", ""}};
  for (const CertificateRow& row : rows) {
    different += !row.equal();
    json["rows"].push_back({{"name", row.name},
                            {"what", row.what},
                            {"recorded", core::hexadecimal(row.recorded)},
                            {"found", core::hexadecimal(row.found)},
                            {"equal", row.equal()}});
    table.push_back(
        {row.name, row.what, core::hexadecimal(row.found), row.equal() ? "equal" : "DIFFERENT"});
  }
  json["different"] = different;
  common.write_json(json);
  if (common.talks()) {
    std::cout << table_text(table);
    std::cout << (different == 0
                      ? text("All ", rows.size(), " answers equal those recorded, to the bit (",
                             context.name(), ").\n")
                      : text(different, " of ", rows.size(),
                             " answers differ from those recorded (", context.name(),
                             "). Please report this with 'cornea info'.\n"));
  }
  return different == 0 ? 0 : 1;
}

}  // namespace

Run add_certify(CLI::App& app) {
  auto common = std::make_shared<CommonOptions>();
  CLI::App* command = app.add_subcommand(
      "certify", "check that this machine reproduces the recorded answers to the bit");
  command->footer(
      "Hashes of corners, features, matches, retrieved pairs, F, E, H and filtered images\n"
      "of generated scenes are compared with those in the program. Exit code 0: all are\n"
      "equal; 1: some differ.");
  add_common_options(*command, *common);
  return [common] { return run_certify(*common); };
}

}  // namespace cornea::cli
