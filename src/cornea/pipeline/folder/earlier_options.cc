// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/earlier_options.h"

#include "cornea/core/error.h"
#include "cornea/pipeline/folder/options_text.h"

namespace cornea::folder {

std::string earlier_options(const colmap::Database& database, const std::string& step,
                            const std::string& options) {
  for (const std::string& then : database.options_of_step(step)) {
    if (then != options) return options_difference(then, options);
  }
  return "";
}

void forget_without_rows(colmap::Database& database, const std::string& step,
                         const std::string& table) {
  if (database.options_of_step(step).empty() || database.count(table) > 0) return;
  colmap::Database::Transaction transaction(database);
  // Another run may have begun to fill the table since.
  if (database.count(table) == 0) database.forget_options_of_step(step);
  transaction.commit();
}

bool redo_for_options(const colmap::Database& database, std::int64_t there,
                      const std::string& difference, Changed changed, const FolderEvents& events) {
  if (there == 0 || difference.empty()) return false;
  const std::string what =
      text(database.file(), ": of the ", there, there == 1 ? " pair" : " pairs",
           " that are done, some or all were made with other options (", difference, ")");
  if (changed == Changed::stop) {
    fail(ErrorCode::io, what,
         ", and nothing was written; changed = redo makes these pairs again, changed = keep leaves "
         "them and does the rest");
  }
  events.note(what +
              (changed == Changed::keep ? "; they are left as they are" : "; they are made again"));
  return changed == Changed::redo;
}

}  // namespace cornea::folder
